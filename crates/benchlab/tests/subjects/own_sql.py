# SPDX-License-Identifier: Apache-2.0
"""SQL on a server, with the drivers of the experiment `sql`. The argument is the target."""

import sys
from pathlib import Path

_PROJECT = Path(__file__).resolve().parents[4]
sys.path[:0] = [str(_PROJECT / "kits/python/src"), str(_PROJECT / "experiments/sql/python")]

from lab_kit import serve  # noqa: E402
from server_cases import server_cases  # noqa: E402

if __name__ == "__main__":
    if sys.argv[1] == "postgresql":
        import psycopg
        from psycopg_subject import connector, statement_cache
        cases = server_cases(connector, psycopg.Connection.transaction, statement_cache)
    else:
        from mariadb_target import transaction
        from pymysql_subject import connector
        cases = server_cases(connector, transaction, statement_cache=None)
    serve("own", "a driver", cases)
