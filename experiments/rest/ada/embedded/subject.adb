--  SPDX-License-Identifier: Apache-2.0
--
--  The subject with the smallest web server in Ada.

with Appserver;
with Benchlab.Subjects;
with Embedded_Case;

procedure Subject is
begin
   Benchlab.Subjects.Serve
     (Name     => "ada-embedded",
      Library  => "appserver " & Appserver.Version & ", profile embedded",
      New_Case => Embedded_Case.New_Case'Access);
end Subject;
