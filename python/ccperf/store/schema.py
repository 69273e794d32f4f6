"""The store's tables, and how a file of an older version becomes one of this."""

from __future__ import annotations

#: Marks an SQLite file as ours (`PRAGMA application_id`): "ccpf".
APPLICATION_ID = 0x63637066

_INITIAL = """
CREATE TABLE run (
    id              TEXT PRIMARY KEY,
    label           TEXT,
    scenario        TEXT NOT NULL,  -- canonical JSON
    scenario_hash   TEXT NOT NULL,
    seed            INTEGER NOT NULL,
    backend         TEXT NOT NULL,
    backend_version TEXT NOT NULL,
    engine_hash     TEXT NOT NULL,
    ccperf_version  TEXT NOT NULL,
    wall_seconds    REAL,           -- depends on the host, as does the next
    finished_at     TEXT NOT NULL   -- ISO 8601, UTC
) STRICT;

-- The points of experiments that a run serves: different experiments may share a run.
CREATE TABLE point (
    run_id     TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    experiment TEXT NOT NULL,       -- '' for a scenario that is of no experiment
    parameters TEXT NOT NULL,       -- JSON object
    PRIMARY KEY (run_id, experiment, parameters)
) STRICT, WITHOUT ROWID;

CREATE TABLE flow (
    run_id      TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    position    INTEGER NOT NULL,   -- in the scenario
    name        TEXT NOT NULL,
    source      TEXT NOT NULL,
    destination TEXT NOT NULL,
    cc          TEXT NOT NULL,
    recovery    TEXT NOT NULL,
    start_ns    INTEGER NOT NULL,
    stop_ns     INTEGER NOT NULL,
    base_rtt_ns INTEGER NOT NULL,
    bottleneck  TEXT NOT NULL,
    PRIMARY KEY (run_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE metric (
    run_id   TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    scope    TEXT NOT NULL,         -- 'flow', 'link', 'network' or 'class'
    subject  TEXT NOT NULL,         -- the flow, the link direction or 'net'
    name     TEXT NOT NULL,
    value    REAL NOT NULL,
    position INTEGER NOT NULL,      -- in its run's tables
    PRIMARY KEY (run_id, scope, subject, name)
) STRICT, WITHOUT ROWID;

-- The recording, one Parquet file a table.
CREATE TABLE series (
    run_id  TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    name    TEXT NOT NULL,
    rows    INTEGER NOT NULL,
    parquet BLOB NOT NULL,
    PRIMARY KEY (run_id, name)
) STRICT;

CREATE INDEX point_by_experiment ON point (experiment);
CREATE INDEX metric_by_name ON metric (name);
"""

_USER_CODE = """
-- SHA-256 of the files of each user's algorithm, by its label; JSON object.
ALTER TABLE run ADD COLUMN user_code TEXT NOT NULL DEFAULT '{}';
"""

# NULL where an older ccperf has written the row.
_CHECKSUMS = """
ALTER TABLE run ADD COLUMN content TEXT;
ALTER TABLE run ADD COLUMN checksum TEXT;
ALTER TABLE point ADD COLUMN checksum TEXT;
ALTER TABLE series ADD COLUMN checksum TEXT;
"""

# Who takes part, as the point's labels say (`ccperf.algorithms.roles`); NULL if there is nobody.
_ROLES = """
ALTER TABLE point ADD COLUMN under_test TEXT;
ALTER TABLE point ADD COLUMN against TEXT;
UPDATE point SET under_test = json_extract(parameters, '$.aut'),
                 against = json_extract(parameters, '$.against');
CREATE INDEX point_by_algorithm ON point (under_test, against);
"""

# The rows of `metric` are those of runs of before; see `ccperf.store.metric_text`. Who asks by SQL
# asks the view.
_METRICS = """
CREATE TABLE metrics (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    scope  TEXT NOT NULL,           -- 'flow', 'link', 'network' or 'class'
    packed TEXT NOT NULL,           -- JSON: {subject: {name: value}}
    PRIMARY KEY (run_id, scope)
) STRICT;
DROP INDEX metric_by_name;
CREATE VIEW metric_value (run_id, scope, subject, name, value) AS
SELECT run_id, scope, subject, name, value FROM metric
UNION ALL
SELECT metrics.run_id, metrics.scope, column.key, entry.key, entry.value
FROM metrics, json_each(metrics.packed) AS column, json_each(column.value) AS entry;
"""

#: `MIGRATIONS[v]` takes a file of version v to version v + 1; version 0 is an empty file.
MIGRATIONS: tuple[str, ...] = (_INITIAL, _USER_CODE, _CHECKSUMS, _ROLES, _METRICS)

#: The version that this ccperf reads and writes (`PRAGMA user_version`).
VERSION = len(MIGRATIONS)
