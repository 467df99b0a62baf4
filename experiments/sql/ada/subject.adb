--  SPDX-License-Identifier: Apache-2.0
--
--  SQL queries in Ada. The cases are in the children of SQL_Cases; the
--  package Database, of which there is one for each target, makes a program
--  of its own for each.

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
