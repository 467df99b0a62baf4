--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The profiles of the server, as tests start and stop them: with Test_Service, and with room for
--  little that has to wait.

with Appserver.HTTP;

package Tested_Servers is

   use Appserver;

   Workers : constant := 4;
   --  In the server profile

   generic
      Name  : String;
      Spare : Natural;
      --  Handlers that can wait before others have to wait for them
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

   --  With one loop, so that handlers that wait are in each other's way; and with two

   procedure Start_With_One (Times : HTTP.Time_Limits);
   procedure Start_With_Two (Times : HTTP.Time_Limits);
   procedure Stop_Server;
   function Server_Port return Natural;

   package One_Loop is new Tested_Server
     ("server, one loop", Workers - 1, Start_With_One, Stop_Server, Server_Port);
   package Two_Loops is new Tested_Server
     ("server, two loops", Workers - 1, Start_With_Two, Stop_Server, Server_Port);

end Tested_Servers;
