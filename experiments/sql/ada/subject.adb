--  SPDX-License-Identifier: Apache-2.0
--
--  SQL queries in Ada. The cases are in the children of SQL_Cases. There is a separate program for
--  each target, with its own package Database.

with Benchlab.Subjects;
with Database;
with SQL_Cases.New_Case;

procedure Subject is
begin
   Benchlab.Subjects.Serve
     (Name     => "ada",
      Library  => Database.Library,
      New_Case => SQL_Cases.New_Case'Access);
end Subject;
