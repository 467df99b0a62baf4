--  SPDX-License-Identifier: Apache-2.0
--
--  What do routes with typed parameters and documents cost, on the web server in Ada?

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
