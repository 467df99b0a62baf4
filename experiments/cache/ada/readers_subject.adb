--  SPDX-License-Identifier: Apache-2.0
--
--  The cache guarded by a protected object, in a program whose protected functions run
--  concurrently. It is a separate program, since the locking policy applies to the whole program.

pragma Locking_Policy (Concurrent_Readers_Locking);

with Benchlab.Subjects;
with Cache_Cases;

procedure Readers_Subject is
begin
   Cache_Cases.Readers_Share_Lock := True;
   Benchlab.Subjects.Serve
     (Name     => "ada-readers",
      Library  => "appserver caches, " & Standard'Compiler_Version,
      New_Case => Cache_Cases.New_Case'Access);
end Readers_Subject;
