--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Starts and stops servers of all profiles for tests, with Test_Service and little waiting memory.

with Appserver.HTTP;

package Tested_Servers is

   use Appserver;

   Workers : constant := 4;
   --  The number of tasks in the server profile

   generic
      Name  : String;
      Spare : Natural;
      --  The number of handlers that can block before other requests have to wait
      with procedure Start (Times : HTTP.Time_Limits);
      with procedure Stop;
      with function Port return Natural;
   package Tested_Server is
   end Tested_Server;

   procedure Start_Embedded (Times : HTTP.Time_Limits);
   procedure Stop_Embedded;
   function Embedded_Port return Natural;

   package Embedded is new Tested_Server
     ("embedded", 0, Start_Embedded, Stop_Embedded, Embedded_Port);

   --  Servers with one loop, in which blocking handlers affect other requests, and servers with two
   --  loops

   procedure Start_With_One (Times : HTTP.Time_Limits);
   procedure Start_With_Two (Times : HTTP.Time_Limits);
   procedure Stop_Server;
   function Server_Port return Natural;

   package One_Loop is new Tested_Server
     ("server, one loop", Workers - 1, Start_With_One, Stop_Server, Server_Port);
   package Two_Loops is new Tested_Server
     ("server, two loops", Workers - 1, Start_With_Two, Stop_Server, Server_Port);

end Tested_Servers;
