--  SPDX-License-Identifier: Apache-2.0
--
--  The subject with the Ada Web Server (AWS).

with AWS;
with Benchlab.Subjects;
with Serving;

procedure Subject is
begin
   Benchlab.Subjects.Serve
     (Name     => "ada-aws",
      Library  => "Ada Web Server " & AWS.Version,
      New_Case => Serving.New_Case'Access);
end Subject;
