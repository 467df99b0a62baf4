--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Resolves host names within a timeout.

pragma Ada_2022;

with Ada.Containers.Indefinite_Vectors;

private package Appserver.SQL.Host_Addresses is

   package Text_Vectors is new Ada.Containers.Indefinite_Vectors (Positive, String);

   function Addresses_Of (Host : String; Timeout : Duration) return Text_Vectors.Vector;
   --  Returns the numeric addresses of a host, in the order of getaddrinfo(3), up to Max_Addresses.
   --  Raises SQL_Error 08001 if the host is unknown or is not resolved within Timeout seconds.

   Max_Addresses : constant := 16;

end Appserver.SQL.Host_Addresses;
