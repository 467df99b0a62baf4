--  SPDX-License-Identifier: Apache-2.0
--
--  Measures the benefit of pooled connections in Ada. The package Database depends on the target.

with Benchlab.Subjects;
with Database;
with SQL_Cases.Pooling;

procedure Pool_Subject is
begin
   Benchlab.Subjects.Serve
     (Name     => "ada",
      Library  => Database.Library & ", Appserver.Pools 1",
      New_Case => SQL_Cases.Pooling.New_Case'Access);
end Pool_Subject;
