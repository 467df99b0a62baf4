--  SPDX-License-Identifier: Apache-2.0
--
--  The hash table experiment's subject in Ada.

with Benchlab.Subjects;
with Hashtable_Cases;

procedure Subject is
begin
   Benchlab.Subjects.Serve
     (Name     => "ada",
      Library  => "chained table, " & Standard'Compiler_Version,
      New_Case => Hashtable_Cases.New_Case'Access);
end Subject;
