--  SPDX-License-Identifier: Apache-2.0
--
--  The cache experiment's subject in Ada: the caches of appserver/ada.

with Benchlab.Subjects;
with Cache_Cases;

procedure Subject is
begin
   Benchlab.Subjects.Serve
     (Name     => "ada",
      Library  => "appserver caches, " & Standard'Compiler_Version,
      New_Case => Cache_Cases.New_Case'Access);
end Subject;
