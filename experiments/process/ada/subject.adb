--  SPDX-License-Identifier: Apache-2.0
--
--  The process experiment's subject in Ada: the package Appserver.Processes.

with Benchlab.Subjects;
with Process_Cases.New_Case;

procedure Subject is
begin
   Benchlab.Subjects.Serve
     (Name     => "ada",
      Library  => "Appserver.Processes 1, clone",
      New_Case => Process_Cases.New_Case'Access);
end Subject;
