--  SPDX-License-Identifier: Apache-2.0
--
--  The pool experiment's subject in Ada: Appserver.Pools, whose leases take no lock while no task
--  waits.

with Benchlab.Subjects;
with Pool_Cases;

procedure Subject is
begin
   Benchlab.Subjects.Serve
     (Name => "ada", Library => "Appserver.Pools 1", New_Case => Pool_Cases.New_Case'Access);
end Subject;
