--  SPDX-License-Identifier: Apache-2.0

with Appserver.SQL;
with Benchlab.Fields;

procedure Report_Row
  (DB       : in out Appserver.SQL.Connection'Class;
   Query    : String;
   Settings : in out Benchlab.Fields.Field_List);
--  Runs a query that returns one row, and adds each column of this row to Settings. The column's
--  name is the key. A null is added as an empty value.
