--  SPDX-License-Identifier: Apache-2.0
--
--  The counter experiment's subject in Ada: the counters of appserver/ada.

with Benchlab.Subjects;
with Counter_Cases;

procedure Subject is
begin
   Benchlab.Subjects.Serve
     (Name     => "ada",
      Library  => "appserver counters, " & Standard'Compiler_Version,
      New_Case => Counter_Cases.New_Case'Access);
end Subject;
