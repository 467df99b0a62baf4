--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A handler for tests.

with Appserver.HTTP;

package Test_Service is

   use Appserver;

   --  A gate, at which handlers of /wait block until a test opens the gate

   protected Gate is
      procedure Shut;
      procedure Open;
      entry Pass;
      function Waiting return Natural;
   private
      Is_Open : Boolean := True;
   end Gate;

   procedure Make_File (Name : String; Size : Natural);
   --  Creates the file for /file, with the bytes of Pattern. Its directory is served at /folder/.

   function Pattern (Offset, Length : Natural) return String;

   function Respond (Request : HTTP.Request) return HTTP.Response;
   --  Responds to the paths /fixed, /long (256 KiB), /written?size=N, /echo,
   --  /file?first=N&length=N, /fields, /wait, /slow, /deep?levels=N (10 KB of stack for each
   --  level), /unprobed, /raise, /full, /missing, /document and /folder/NAME?levels=N (1 KB of
   --  stack for each level). Responds to other paths with 404.

end Test_Service;
