--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Cookies (RFC 6265): reads the cookies of a request in place, and sets cookies in a response.

pragma Ada_2022;

package Appserver.HTTP.Cookies is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   Max_Cookies : constant := 200;
   --  The maximum number of cookies in a request. Further cookies are ignored.

   procedure Read
     (Request : HTTP.Request;
      Process : not null access procedure (Name, Value : String));
   --  Calls Process with each cookie, in the order of the request. A name is a token. A value
   --  contains no control characters, quotation marks or backslashes. Quotation marks around a
   --  value are removed. Invalid cookies are ignored.
   --  @param Request the request
   --  @param Process gets each name and value

   function Has_Cookie (Request : HTTP.Request; Name : String) return Boolean;
   --  @param Request the request
   --  @param Name the name of a cookie, which is case-sensitive
   --  @return True if the request has a cookie with that name

   function Cookie
     (Request : HTTP.Request; Name : String; Default : String := "") return String;
   --  @param Request the request
   --  @param Name the name of a cookie, which is case-sensitive
   --  @param Default the result if there is no such cookie
   --  @return the value of the first cookie with that name. Further cookies with the same name may
   --  have been set for other paths.

   -------------
   -- Setting --
   -------------

   Max_Value_Length : constant := 4_096;

   function Is_Value (Text : String) return Boolean is
     (Text'Length <= Max_Value_Length
      and then (for all C of Text => C in '!' | '#' .. '+' | '-' .. ':' | '<' .. '[' | ']' .. '~'));
   --  Checks the value of a cookie. The program must encode characters that RFC 6265, section
   --  4.1.1, does not allow.
   --  @param Text the value
   --  @return True if it is valid

   function Is_Attribute (Text : String) return Boolean is
     (Text'Length <= 1_024 and then (for all C of Text => C in ' ' .. '~' and then C /= ';'));
   --  Checks a path or a domain.
   --  @param Text the value of the attribute
   --  @return True if it is valid

   type Seconds is range -1 .. 2 ** 31 - 1;

   Session : constant Seconds := -1;
   --  The lifetime of a cookie that expires at the end of the client's session

   type Site_Rule is (Strict, Lax, None);
   --  The rule for requests that come from other sites. Clients send the cookie with these requests
   --  always (None), only if the user follows a link (Lax), or never (Strict).

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
     with Pre => (Is_Token (Name)
                    and then Is_Value (Value)
                    and then Is_Attribute (Path)
                    and then Is_Attribute (Domain)
                    and then (Secure or else Same_Site /= None)
                    and then Fits_Prefix (Name, Path, Domain, Secure))
                 or else raise Misuse_Error with "the cookie is invalid";
   --  Sets a cookie.
   --  @param Builder the response builder
   --  @param Name the name
   --  @param Value the value
   --  @param Max_Age the lifetime in seconds, or Session
   --  @param Path the path to which clients send the cookie; empty for the path of the request
   --  @param Domain the domain to which clients send the cookie; empty for the host of the request
   --  @param Secure True if clients must send the cookie only over TLS, or to the local host
   --  @param HTTP_Only True if scripts must not be able to read the cookie
   --  @param Same_Site the rule for requests from other sites
   --  @exception Response_Too_Large the cookie does not fit

   procedure Remove_Cookie
     (Builder : in out Response_Builder;
      Name    : String;
      Path    : String := "/";
      Domain  : String := "")
     with Pre => (Is_Token (Name) and then Is_Attribute (Path) and then Is_Attribute (Domain))
                 or else raise Misuse_Error with "the cookie is invalid";
   --  Removes a cookie from the client, by setting it with a lifetime of zero.
   --  @param Builder the response builder
   --  @param Name the name
   --  @param Path the path that was passed to Set_Cookie
   --  @param Domain the domain that was passed to Set_Cookie
   --  @exception Response_Too_Large the field does not fit

   function Fits_Prefix (Name, Path, Domain : String; Secure : Boolean) return Boolean;
   --  Checks the rules for names with a prefix. Clients reject a "__Secure-" cookie that is not
   --  Secure, and a "__Host-" cookie that is not Secure, has a Domain, or has a Path other than
   --  "/".
   --  @param Name the name
   --  @param Path the path
   --  @param Domain the domain
   --  @param Secure True if the cookie is secure
   --  @return True if clients accept the cookie

end Appserver.HTTP.Cookies;
