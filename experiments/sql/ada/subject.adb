--  SPDX-License-Identifier: Apache-2.0
--
--  What does a query cost in Ada? The questions are in the children of SQL_Cases.

with Appserver.SQL.SQLite;
with Benchlab.Subjects;
with SQL_Cases.New_Case;

procedure Subject is
begin
   Benchlab.Subjects.Serve
     (Name     => "ada",
      Library  => "SQLite " & Appserver.SQL.SQLite.Library_Version,
      New_Case => SQL_Cases.New_Case'Access);
end Subject;
