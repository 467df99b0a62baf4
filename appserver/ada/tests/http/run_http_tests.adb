--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Runs the tests of the HTTP servers. The argument is a directory to write files to.

with Ada.Command_Line;
with Appserver.HTTP.Channel_Tests;
with Appserver.HTTP.Loop_Tests;
with Appserver.Numerals_Tests;
with AUnit.Test_Suites;
with Contract_Tests;
with Document_Tests;
with Filter_Tests;
with File_Tests;
with JSON_Tests;
with Lacking_Tests;
with Multipart_Tests;
with Parser_Fuzz_Tests;
with Parser_Tests;
with REST_Tests;
with Proxy_Tests;
with Run_Suite;
with Server_Suites;

procedure Run_HTTP_Tests is

   Folder : constant String := Ada.Command_Line.Argument (1);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Result.Add_Test (Parser_Tests.Suite);
      Result.Add_Test (Parser_Fuzz_Tests.Suite);
      Result.Add_Test (Appserver.Numerals_Tests.Suite);
      Result.Add_Test (Appserver.HTTP.Loop_Tests.Suite);
      Result.Add_Test (Appserver.HTTP.Channel_Tests.Suite);
      Result.Add_Test (JSON_Tests.Suite);
      Result.Add_Test (Document_Tests.Suite);
      Result.Add_Test (File_Tests.Suite);
      Result.Add_Test (REST_Tests.Suite);
      Result.Add_Test (Proxy_Tests.Suite);
      Result.Add_Test (Contract_Tests.Suite);
      Result.Add_Test (Multipart_Tests.Suite);
      Result.Add_Test (Lacking_Tests.Suite);
      Result.Add_Test (Server_Suites.On_Embedded.Suite (Folder));
      Result.Add_Test (Server_Suites.On_One_Loop.Suite (Folder));
      Result.Add_Test (Server_Suites.On_Two_Loops.Suite (Folder));
      Result.Add_Test (Filter_Tests.Suite);
      return Result;
   end Suite;

   procedure Run is new Run_Suite (Suite);

begin
   Run;
end Run_HTTP_Tests;
