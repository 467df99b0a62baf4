--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Cookies (RFC 6265) of a request, and cookies that a response sets. They are read in place, in
--  the request.

pragma Ada_2022;

package Appserver.HTTP.Cookies is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   Max_Cookies : constant := 200;
   --  The maximum for a request; further cookies are ignored

   procedure Read
     (Request : HTTP.Request;
      Process : not null access procedure (Name, Value : String));
   --  Calls Process with each pair, in the order of the request. A name is a token. A value has no
   --  control characters, quotation marks or backslashes; quotation marks around it are removed.
   --  Invalid pairs are ignored.

   function Has_Cookie (Request : HTTP.Request; Name : String) return Boolean;
   --  The case of names matters

   function Cookie
     (Request : HTTP.Request; Name : String; Default : String := "") return String;
   --  The value of the first cookie of that name. Others may have been set for other paths.

   -------------
   -- Setting --
   -------------

   Max_Value_Length : constant := 4_096;

   function Is_Value (Text : String) return Boolean is
     (Text'Length <= Max_Value_Length
      and then (for all C of Text => C in '!' | '#' .. '+' | '-' .. ':' | '<' .. '[' | ']' .. '~'));
   --  The program has to encode other characters (RFC 6265, 4.1.1)

   function Is_Attribute (Text : String) return Boolean is
     (Text'Length <= 1_024 and then (for all C of Text => C in ' ' .. '~' and then C /= ';'));

   type Seconds is range -1 .. 2 ** 31 - 1;

   Session : constant Seconds := -1;
   --  The cookie ends with the client's session

   type Site_Rule is (Strict, Lax, None);
   --  Requests from other sites carry the cookie always (None), only when a link is followed (Lax),
   --  or never (Strict)

   procedure Set_Cookie
     (Builder   : in out Response_Builder;
      Name      : String;
      Value     : String;
      Max_Age   : Seconds   := Session;
      Path      : String    := "/";
      Domain    : String    := "";
      Secure    : Boolean   := True;
      HTTP_Only : Boolean   := True;
      Same_Site : Site_Rule := Lax)
     with Pre => Is_Token (Name)
                   and then Is_Value (Value)
                   and then Is_Attribute (Path)
                   and then Is_Attribute (Domain)
                   and then (Secure or else Same_Site /= None)
                   and then Fits_Prefix (Name, Path, Domain, Secure);
   --  An empty Path or Domain stands for the request's. Secure: sent only over TLS, or to this
   --  machine. HTTP_Only: hidden from scripts. Response_Too_Large if the builder has no room.

   procedure Remove_Cookie
     (Builder : in out Response_Builder;
      Name    : String;
      Path    : String := "/";
      Domain  : String := "")
     with Pre => Is_Token (Name) and then Is_Attribute (Path) and then Is_Attribute (Domain);
   --  Path and Domain must be those of Set_Cookie

   function Fits_Prefix (Name, Path, Domain : String; Secure : Boolean) return Boolean;
   --  Clients drop a "__Secure-" cookie that is not Secure. They drop a "__Host-" cookie that is
   --  not Secure, has a Domain, or has a Path other than "/".

end Appserver.HTTP.Cookies;
