--  SPDX-License-Identifier: Apache-2.0

with Appserver.SQL;
with Benchlab.Fields;

procedure Report_Row
  (DB       : in out Appserver.SQL.Connection'Class;
   Query    : String;
   Settings : in out Benchlab.Fields.Field_List);
--  Adds each column of the query's single row to Settings, with the column's name as the key and an
--  empty value for a null
