--  SPDX-License-Identifier: Apache-2.0
--
--  The REST experiment's server on the Ada Web Server.

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
