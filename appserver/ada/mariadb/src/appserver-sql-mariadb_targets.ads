--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Parses database URIs.

pragma Ada_2022;

with Ada.Strings.Unbounded;

private package Appserver.SQL.MariaDB_Targets is

   use Ada.Strings.Unbounded;

   type Target is record
      Host, User, Password, Database, Socket, Authority : Unbounded_String;
      Port             : Natural range 0 .. 65_535 := 0;
      Connect_Timeout  : Duration := 0.0;
      Response_Timeout : Duration := 0.0;
      Is_Encrypted     : Boolean := False;
      Is_Authenticated : Boolean := False;
   end record;
   --  The parameters of a connection. For an empty text or 0, the library uses its default.

   function Parsed (URI : String) return Target;
   --  Parses mariadb://USER:PASSWORD@HOST:PORT/DATABASE?socket=PATH, with percent-encoded
   --  components. All components except the host are optional. Raises SQL_Error 08001 if the URI is
   --  malformed. Does not set timeouts or TLS.

end Appserver.SQL.MariaDB_Targets;
