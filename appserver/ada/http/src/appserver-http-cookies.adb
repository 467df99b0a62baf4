--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.HTTP.Cookies is

   -------------
   -- Reading --
   -------------

   subtype Value_Character is Character with
     Static_Predicate => Value_Character in ' ' .. '~'
       and then Value_Character not in '"' | ';' | '\';
   --  The characters of RFC 6265, and in addition spaces and commas, which clients send in practice

   type Pair is record
      Name, Value : Span;
   end record;

   --  Iterates over the cookies of a request. Line is 0 at the end.

   type Cursor is record
      Line       : Natural  := 0;
      Next       : Positive := 1;
      Read_Count : Natural  := 0;
   end record;

   --  Parses "name=value" or "name=""value"""

   procedure Read_Pair
     (Text : String; Place : Span; Result : in out Pair; Valid : out Boolean)
   is
      Sign : Natural := Place.First;
   begin
      while Sign <= Place.Last and then Text (Sign) /= '=' loop
         Sign := Sign + 1;
      end loop;
      Valid := Sign <= Place.Last;
      if not Valid then
         return;
      end if;
      Result.Name  := Trimmed (Text, (Place.First, Sign - 1));
      Result.Value := Trimmed (Text, (Sign + 1, Place.Last));
      if Length (Result.Value) >= 2
        and then Text (Result.Value.First) = '"'
        and then Text (Result.Value.Last) = '"'
      then
         Result.Value := (Result.Value.First + 1, Result.Value.Last - 1);
      end if;
      Valid := Is_Token (Text (Result.Name.First .. Result.Name.Last))
        and then (for all C of Text (Result.Value.First .. Result.Value.Last) =>
                    C in Value_Character);
   end Read_Pair;

   procedure Find_Line (Request : HTTP.Request; Self : in out Cursor) is
   begin
      loop
         Self.Line := Self.Line + 1;
         if Self.Line > Request.Line_Count then
            Self.Line := 0;
            exit;
         end if;
         declare
            Line : Field_Line renames Request.Lines (Self.Line);
         begin
            if Same (Request.Bytes (Line.Name.First .. Line.Name.Last), "cookie") then
               Self.Next := Line.Value.First;
               exit;
            end if;
         end;
      end loop;
   end Find_Line;

   function First_Place (Request : HTTP.Request) return Cursor is
   begin
      return Result : Cursor do
         Find_Line (Request, Result);
      end return;
   end First_Place;

   --  Reads the next valid pair. If there is none, sets Self.Line to 0.

   procedure Take (Request : HTTP.Request; Self : in out Cursor; Result : out Pair) is
      Text  : String renames Request.Bytes;
      Last  : Natural;
      Valid : Boolean;
   begin
      Result := (others => <>);
      while Self.Line > 0 loop
         if Self.Next > Request.Lines (Self.Line).Value.Last then
            Find_Line (Request, Self);
         else
            Last := Self.Next - 1;
            while Last < Request.Lines (Self.Line).Value.Last and then Text (Last + 1) /= ';' loop
               Last := Last + 1;
            end loop;
            Read_Pair (Text, (Self.Next, Last), Result, Valid);
            Self.Next := Last + 2;
            if Valid then
               Self.Read_Count := Self.Read_Count + 1;
               if Self.Read_Count > Max_Cookies then
                  Self.Line := 0;
               end if;
               exit;
            end if;
         end if;
      end loop;
   end Take;

   procedure Read
     (Request : HTTP.Request;
      Process : not null access procedure (Name, Value : String))
   is
      Place : Cursor := First_Place (Request);
      Found : Pair;
   begin
      loop
         Take (Request, Place, Found);
         exit when Place.Line = 0;
         Process
           (Request.Bytes (Found.Name.First .. Found.Name.Last),
            Request.Bytes (Found.Value.First .. Found.Value.Last));
      end loop;
   end Read;

   procedure Find
     (Request : HTTP.Request; Name : String; Value : out Span; Is_Present : out Boolean)
   is
      Place : Cursor := First_Place (Request);
      Found : Pair;
   begin
      loop
         Take (Request, Place, Found);
         Is_Present := Place.Line > 0;
         exit when not Is_Present
           or else Request.Bytes (Found.Name.First .. Found.Name.Last) = Name;
      end loop;
      Value := Found.Value;
   end Find;

   function Has_Cookie (Request : HTTP.Request; Name : String) return Boolean is
      Ignored    : Span;
      Is_Present : Boolean;
   begin
      Find (Request, Name, Ignored, Is_Present);
      return Is_Present;
   end Has_Cookie;

   function Cookie
     (Request : HTTP.Request; Name : String; Default : String := "") return String
   is
      Place      : Span;
      Is_Present : Boolean;
   begin
      Find (Request, Name, Place, Is_Present);
      return (if Is_Present then Request.Bytes (Place.First .. Place.Last) else Default);
   end Cookie;

   -------------
   -- Setting --
   -------------

   function Begins (Text, Start : String) return Boolean is
     (Text'Length >= Start'Length
      and then Same (Text (Text'First .. Text'First + Start'Length - 1), Start));

   function Fits_Prefix (Name, Path, Domain : String; Secure : Boolean) return Boolean is
     (if Begins (Name, "__Host-") then Secure and then Path = "/" and then Domain = ""
      elsif Begins (Name, "__Secure-") then Secure);

   function Image (Value : Seconds) return String is
      Text : constant String := Value'Image;
   begin
      return Text (2 .. Text'Last);
   end Image;

   procedure Set_Cookie
     (Builder   : in out Response_Builder;
      Name      : String;
      Value     : String;
      Max_Age   : Seconds   := Session;
      Path      : String    := "/";
      Domain    : String    := "";
      Secure    : Boolean   := True;
      HTTP_Only : Boolean   := True;
      Same_Site : Site_Rule := Lax) is
   begin
      Builder.Add_Field
        ("Set-Cookie",
         Name & '=' & Value
         & (if Max_Age = Session then "" else "; Max-Age=" & Image (Max_Age))
         & (if Path = "" then "" else "; Path=" & Path)
         & (if Domain = "" then "" else "; Domain=" & Domain)
         & (if Secure then "; Secure" else "")
         & (if HTTP_Only then "; HttpOnly" else "")
         & (case Same_Site is
               when Strict => "; SameSite=Strict",
               when Lax    => "; SameSite=Lax",
               when None   => "; SameSite=None"));
   end Set_Cookie;

   procedure Remove_Cookie
     (Builder : in out Response_Builder;
      Name    : String;
      Path    : String := "/";
      Domain  : String := "") is
   begin
      Set_Cookie (Builder, Name, "", Max_Age => 0, Path => Path, Domain => Domain);
   end Remove_Cookie;

end Appserver.HTTP.Cookies;
