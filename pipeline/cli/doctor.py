"""The command that looks at a machine or a cluster before a study is trusted to it."""

from __future__ import annotations

import sys
from dataclasses import asdict
from itertools import chain
from pathlib import Path

import click

from pipeline.cli.actions import print_json
from pipeline.cli.options import cli, cluster_option, json_option, runs_option
from pipeline.cli.terminal import prose

__all__: list[str] = []


@cli.command()
@cluster_option("Start this profile too, with one worker: local, slurm, or a file of yours.")
@runs_option
@json_option
def doctor(cluster: str | None, runs: Path, as_json: bool) -> None:
    """Check a machine or a cluster, and say what needs fixing.

    \b
    Examples:
      pipeline doctor
      pipeline doctor --cluster slurm

    Each line begins with ok, look (a study runs, but see below) or fail. The exit code is 69 if anything fails.
    """  # noqa: D301 - click reads \b as "keep these lines"
    from pipeline.engine.doctor import examine_cluster, examine_machine
    from pipeline.errors import ClusterError, visible
    from pipeline.study.load import load_profile, locate_profile

    there = load_profile(locate_profile(cluster, Path.cwd())) if cluster else None
    findings = []
    for finding in chain(examine_machine(runs), examine_cluster(there, runs) if there else ()):
        findings.append(finding)
        if not as_json:
            click.echo(prose(visible(f"{finding.verdict:<6}{finding.topic}: {finding.text}"), sys.stdout, " " * 8))
            if finding.fix:
                click.echo(prose(visible(f"        {finding.fix}"), sys.stdout, " " * 8))
    if as_json:
        print_json({"findings": [asdict(finding) for finding in findings]})
    failed = [finding.topic for finding in findings if finding.verdict == "fail"]
    if failed:
        raise ClusterError.of(
            "P620",
            f"no study runs here before this is fixed: {', '.join(failed)}",
            where=there.name if there else "this machine",
            help="do what it says below each line that begins with `fail`",
        )
