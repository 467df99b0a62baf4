--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A site with the files of a directory

with Appserver.HTTP.Files;

package Site is

   Index : aliased constant String := "index.html";

   Folder : Appserver.HTTP.Files.Folder;

   function Respond (Request : Appserver.HTTP.Request) return Appserver.HTTP.Response is
     (if Appserver.HTTP.Method (Request) in Appserver.HTTP.Get
      then Folder.Respond (Request, Prefix => "/")
      else Appserver.HTTP.Not_Allowed (Request, "GET, HEAD"));

end Site;
