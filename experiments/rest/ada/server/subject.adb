--  SPDX-License-Identifier: Apache-2.0
--
--  The subject with a web server in Ada.

with Appserver;
with Benchlab.Subjects;
with Pooled_Case;

procedure Subject is
begin
   Benchlab.Subjects.Serve
     (Name     => "ada-server",
      Library  => "appserver " & Appserver.Version & ", profile server",
      New_Case => Pooled_Case.New_Case'Access);
end Subject;
