--  SPDX-License-Identifier: Apache-2.0
--
--  The subject with a web server in Ada that uses routes with typed parameters, and documents.

with Appserver;
with Benchlab.Subjects;
with Pooled_Case;

procedure Subject is
begin
   Benchlab.Subjects.Serve
     (Name     => "ada-rest",
      Library  => "appserver " & Appserver.Version & ", profile rest",
      New_Case => Pooled_Case.New_Case'Access);
end Subject;
