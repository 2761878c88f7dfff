"""Clusters that are started here: encrypted or refused, quiet, and with private places for their files."""

from __future__ import annotations

import os
import ssl
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import dask.config
import pytest
from distributed import Nanny, Scheduler, SpecCluster
from distributed.security import Security

from pipeline.engine.clusters.batch import batch_options
from pipeline.engine.clusters.certificates import make_certificate
from pipeline.engine.clusters.cluster import CONFIG, cluster_config, find_class, make_cluster
from pipeline.engine.clusters.surroundings import surround
from pipeline.engine.dask import open_executor
from pipeline.errors import ClusterError
from pipeline.study.profile import LOCAL, ClusterProfile

SLURM = ClusterProfile(name="slurm", cluster="dask_jobqueue.SLURMCluster")


def default(name: str, otherwise: Any) -> Any:
    return otherwise


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_every_certificate_is_another_and_opens_only_what_has_the_same() -> None:
    one, other = make_certificate(), make_certificate()
    assert one.key != other.key
    assert "PRIVATE" not in repr(one)
    for certificate, fits in ((one, True), (other, False)):
        server = Security(require_encryption=True, **one.settings()).get_listen_args("scheduler")["ssl_context"]
        client = Security(require_encryption=True, **certificate.settings()).get_connection_args("worker")["ssl_context"]
        assert shake_hands(server, client) is fits


def shake_hands(server: ssl.SSLContext, client: ssl.SSLContext) -> bool:
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = [client.wrap_bio(to_client, to_server), server.wrap_bio(to_server, to_client, server_side=True)]
    for _ in range(10):
        for side in sides:
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
            except ssl.SSLError:
                return False
    return True


def test_a_client_without_a_certificate_is_turned_away() -> None:
    server = Security(require_encryption=True, **make_certificate().settings()).get_listen_args("scheduler")["ssl_context"]
    client = ssl.create_default_context()
    client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
    assert not shake_hands(server, client)


def test_keys_of_jobs_are_in_files_of_the_run_that_only_their_owner_can_read_and_that_go_with_the_cluster(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with surround(SLURM, tmp_path / "run" / "logs", None) as made:
            files = {Path(path) for path in made.certificates.values()}
            assert [mode(path) for path in files] == [0o600, 0o600]
            assert {mode(path.parent) for path in files} == {0o700}
            assert all(path.is_relative_to(tmp_path / "run" / "logs") for path in files)
            assert mode(Path(made.config["temporary-directory"])) == 0o700
            raise RuntimeError("they go whatever happens")
    except RuntimeError:
        pass
    finally:
        os.umask(before)
    assert not list((tmp_path / "run" / "logs").iterdir())
    assert not Path(made.config["temporary-directory"]).exists()


def test_keys_of_local_workers_are_in_no_file(tmp_path: Path) -> None:
    with surround(LOCAL, tmp_path / "logs", None) as made:
        assert made.certificates["tls_worker_key"].startswith("-----BEGIN PRIVATE KEY-----")
        assert not (tmp_path / "logs").exists()


def test_certificates_of_the_profile_are_used_where_it_names_some(tmp_path: Path) -> None:
    own = {"distributed.comm.tls.ca-file": "/site/ca.pem"}
    with surround(LOCAL.model_copy(update={"config": own}), tmp_path / "logs", None) as made:
        assert not made.certificates
        assert made.config["distributed.comm.require-encryption"] is True


def test_a_running_scheduler_is_joined_as_the_user_set_it_up(tmp_path: Path) -> None:
    with surround(ClusterProfile(name="there", address="tcp://10.0.0.1:8786"), tmp_path / "logs", None) as made:
        assert not made.certificates
        assert not made.config


@pytest.mark.parametrize(
    "options",
    [
        {"protocol": "tcp"},
        {"protocol": "tcp://"},
        {"host": "tcp://0.0.0.0"},
        {"security": False},
        {"security": {"require_encryption": False}},
        {"scheduler_options": {"protocol": "ucx://"}},
    ],
)
def test_a_profile_that_asks_for_an_open_cluster_is_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(ClusterError, match="P606"):
        make_cluster(LOCAL.model_copy(update={"options": options}), 1, tmp_path)


class TalksPlainly(SpecCluster):  # type: ignore[misc]
    """A cluster of another package that does not do what Dask's configuration says."""

    def __init__(self) -> None:
        security = Security(require_encryption=False)
        options = {"protocol": "tcp", "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "security": security}
        super().__init__(scheduler={"cls": Scheduler, "options": options}, workers={}, security=security)


class GoesByTheConfiguration(SpecCluster):  # type: ignore[misc]
    """A cluster of another package that is told nothing: what it starts finds its certificates in Dask's configuration."""

    def __init__(self) -> None:
        options = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
        super().__init__(
            scheduler={"cls": Scheduler, "options": options},
            worker={"cls": Nanny, "options": {"host": "127.0.0.1", "nthreads": 1}},
        )


def test_a_class_that_talks_plainly_all_the_same_is_closed_again(tmp_path: Path) -> None:
    profile = ClusterProfile(name="other", cluster=f"{__name__}.TalksPlainly")
    with (
        pytest.raises(ClusterError, match=r"P606.*listens at tcp"),
        open_executor(profile, tmp_path, prefix="t", workers=1, logs=tmp_path / "logs"),
    ):
        pass


def test_a_class_of_another_package_is_encrypted_by_the_configuration(tmp_path: Path) -> None:
    profile = ClusterProfile(name="other", cluster=f"{__name__}.GoesByTheConfiguration")
    with open_executor(profile, tmp_path, prefix="t", workers=1, logs=tmp_path / "logs") as executor:
        executor._client.wait_for_workers(1, timeout=60)
        info = executor._client.scheduler_info(n_workers=-1)
        ((worker, facts),) = info["workers"].items()
        assert {address.partition("://")[0] for address in (info["address"], worker, facts["nanny"])} == {"tls"}
    assert not list((tmp_path / "logs").iterdir())


def test_what_makes_clusters_is_told_from_what_does_not() -> None:
    kinds = {
        "distributed.LocalCluster": "local",
        "distributed.deploy.local.LocalCluster": "local",
        "dask_jobqueue.PBSCluster": "batch",
        "distributed.SSHCluster": "other",
        f"{__name__}.TalksPlainly": "other",
    }
    for path, kind in kinds.items():
        assert find_class(ClusterProfile(name="p", cluster=path))[1] == kind
    for path in ("subprocess.Popen", "os.system", "distributed.Client"):
        with pytest.raises(ClusterError, match="P604"):
            find_class(ClusterProfile(name="p", cluster=path))


def test_pages_are_served_only_where_a_dashboard_is_asked_for() -> None:
    routes = {"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []}
    assert {key: cluster_config(LOCAL)[key] for key in routes} == routes
    for options in ({"dashboard_address": ":8787"}, {"scheduler_options": {"dashboard_address": ":8787"}}):
        assert not routes.keys() & cluster_config(LOCAL.model_copy(update={"options": options})).keys()
    assert cluster_config(LOCAL.model_copy(update={"config": {"distributed.worker.http.routes": ["mine"]}})) == {
        **CONFIG,
        "distributed.worker.http.routes": ["mine"],
    }


def test_jobs_get_what_the_site_says_besides_what_is_ours() -> None:
    factory, _ = find_class(SLURM)
    site = {
        "jobqueue.slurm.job-script-prologue": ["module load python"],
        "jobqueue.slurm.worker-extra-args": ["--lifetime", "1h"],
        "jobqueue.slurm.scheduler-options": {"port": 9000},
        "jobqueue.slurm.local-directory": "/scratch/$USER",
    }
    options = batch_options(factory, {"cores": 1}, {"A": "b c"}, Path("logs"), lambda name, otherwise: site.get(name, otherwise))
    assert options["scheduler_options"] == {"dashboard_address": "127.0.0.1:0", "dashboard": False, "port": 9000}
    assert options["worker_extra_args"] == ["--lifetime", "1h", "--no-dashboard", "--resources", "cores=1"]
    prologue = "\n".join(options["job_script_prologue"])
    assert prologue.index("export A='b c'") < prologue.index("module load python") < prologue.index('mktemp -d "/scratch/$USER"/')


@pytest.mark.parametrize("place", [None, "$HOME/two words"])
def test_a_job_has_a_private_folder_for_its_temporary_files_and_removes_it(tmp_path: Path, place: str | None) -> None:
    given = {} if place is None else {"local_directory": place}
    options = batch_options(find_class(SLURM)[0], given, {}, tmp_path, default)
    lines = [*options["job_script_prologue"], f'stat -c %a "{options["local_directory"]}"', 'echo "$PIPELINE_SCRATCH"']
    environment = {**os.environ, "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    said = subprocess.run(
        ["bash", "-c", "umask 022\n" + "\n".join(lines)], env=environment, capture_output=True, text=True, check=True
    )
    rights, folder = said.stdout.splitlines()
    assert rights == "700"
    assert Path(folder).parent == tmp_path / ("" if place is None else "two words")
    assert not Path(folder).exists()


ASK = """
import sys, tempfile
from pathlib import Path
from pipeline.engine.dask import open_executor
from pipeline.study.profile import LOCAL
if __name__ == "__main__":
    folder = Path(tempfile.mkdtemp())
    with open_executor(LOCAL, folder, prefix="t", workers=1, logs=folder / "logs") as executor:
        executor._client.wait_for_workers(1, timeout=60)
        print("|".join(sys.path + executor._client.submit(lambda: __import__("sys").path, pure=False).result()))
"""


def test_no_module_is_imported_from_a_folder_that_another_user_may_have_made_first(tmp_path: Path) -> None:
    """Dask puts its scratch space first among the places of modules: /tmp/dask-scratch-space, whoever made that."""
    theirs = tmp_path / "dask-scratch-space"
    theirs.mkdir()
    theirs.chmod(0o777)
    said = subprocess.run(
        [sys.executable, "-c", ASK], env={**os.environ, "TMPDIR": str(tmp_path)}, capture_output=True, text=True, check=True
    )
    places = [Path(place) for place in said.stdout.strip().split("|") if place]
    assert len(places) > 4
    assert theirs not in places
    assert not [place for place in places if place.is_relative_to(theirs)]


def test_temporary_files_are_where_the_profile_wants_them_but_in_a_folder_of_their_own(tmp_path: Path) -> None:
    for profile in (
        LOCAL.model_copy(update={"options": {"local_directory": str(tmp_path)}}),
        LOCAL.model_copy(update={"config": {"temporary-directory": str(tmp_path)}}),
    ):
        with (
            dask.config.set(cluster_config(profile)),
            surround(profile, tmp_path, dask.config.get("temporary-directory")) as made,
        ):
            scratch = Path(made.config["temporary-directory"])
            assert scratch.parent == tmp_path
            assert mode(scratch) == 0o700
    with surround(LOCAL, tmp_path, None) as made:
        assert Path(made.config["temporary-directory"]).parent == Path(tempfile.gettempdir())
