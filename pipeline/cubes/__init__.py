"""Labelled arrays on disk: one declaration for each variable; create, write cells, open. The only user of Zarr.

Public: `pipeline.cubes.layout` (CubeLayout, MetricInfo), `pipeline.cubes.cube` (CubeWriter), `pipeline.cubes.reading`
(open_cubes, open_statistics, verify_cubes, digest_cubes), `pipeline.cubes.stored` (read_cubes, read_statistics: the same without
xarray), `pipeline.cubes.variables` (the declarations), `pipeline.cubes.history` (open_history, of what `pipeline reanalyse`
writes).
"""
