--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Runs the examples: PROGRAM PORT [DIRECTORY]. Each program prints its URL, and serves until its
--  standard input ends.

with Appserver.HTTP.Server;

package Serving is

   function Port return Appserver.HTTP.Port_Number;
   function Folder return String;

   procedure Until_Input_Ends (Web : in out Appserver.HTTP.Server.Web_Server);

end Serving;
