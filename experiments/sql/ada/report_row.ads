--  SPDX-License-Identifier: Apache-2.0

with Appserver.SQL;
with Benchlab.Fields;

procedure Report_Row
  (DB       : in out Appserver.SQL.Connection'Class;
   Query    : String;
   Settings : in out Benchlab.Fields.Field_List);
--  Every column of the query's one row, under its name; a null as an empty value
