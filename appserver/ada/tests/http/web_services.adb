--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.HTTP.Cookies;
with Appserver.HTTP.Files;
with Appserver.HTTP.Forms;
with Appserver.HTTP.Proxies;
with Appserver.IP_Addresses;
with Proxy_Service;
with Stream_Services;

package body Web_Services is

   use Appserver.HTTP;

   protected body Counter is
      procedure Increment (Value : out Long_Long_Integer) is
      begin
         Count := Count + 1;
         Value := Count;
      end Increment;
   end Counter;

   function Address (Request : HTTP.Request) return Response is
   begin
      Request.Builder.Append (IP_Addresses.Image (Request.Client_Address));
      return Text_Response (Plain_Text'Access);
   end Address;

   function Count (Self : in out Web_Service; Request : HTTP.Request) return Response is
      Value : Long_Long_Integer;
   begin
      Self.Requests.Increment (Value);
      Request.Builder.Append (Value);
      return Text_Response (Plain_Text'Access);
   end Count;

   procedure Append_Pair (Builder : in out Response_Builder; Name, Value : String) is
      Digit_Texts : constant String := "0123456789abcdef";

      procedure Append (Text : String) is
      begin
         for C of Text loop
            Builder.Append (Digit_Texts (Character'Pos (C) / 16 + 1));
            Builder.Append (Digit_Texts (Character'Pos (C) mod 16 + 1));
         end loop;
      end Append;
   begin
      Append (Name);
      Builder.Append ('=');
      Append (Value);
      Builder.Append (ASCII.LF);
   end Append_Pair;

   function All_Cookies (Request : HTTP.Request) return Response is

      procedure Append (Name, Value : String) is
      begin
         Append_Pair (Request.Builder.all, Name, Value);
      end Append;
   begin
      Cookies.Read (Request, Append'Access);
      return Text_Response (Plain_Text'Access);
   end All_Cookies;

   function New_Cookie (Request : HTTP.Request) return Response is
   begin
      Cookies.Set_Cookie
        (Request.Builder.all, Request.Parameter ("name"), Request.Parameter ("value"),
         Max_Age => 60);
      Cookies.Remove_Cookie (Request.Builder.all, "old");
      return Status_Only (No_Content);
   end New_Cookie;

   function All_Fields (Request : HTTP.Request) return Response is
      use type Forms.Outcome;
      Form   : Forms.Form (Capacity => 1_000, Max_Fields => 20);
      Result : Forms.Outcome;
   begin
      Form.Read (Request, Result);
      if Result /= Forms.Complete then
         return Status_Only (Forms.Status_Of (Result));
      end if;
      for K in 1 .. Form.Count loop
         Append_Pair (Request.Builder.all, Form.Name (K), Form.Value (K));
      end loop;
      return Text_Response (Plain_Text'Access);
   end All_Fields;

   Site    : Files.Folder;
   Caching : aliased constant String := "public, max-age=60";
   Index   : aliased constant String := "index.html";

   procedure Open_Site (Path : String) is
   begin
      Site.Open
        (Path,
         (Cache_Control => Caching'Access,
          Index         => Index'Access,
          Precompressed => True));
   end Open_Site;

   overriding function Respond
     (Self : in out Web_Service; Request : HTTP.Request) return HTTP.Response is
     (if Request.Path_Is ("/address") then Address (Request)
      elsif Request.Path_Is ("/forwarded") then Proxy_Service.Forwarded (Request)
      elsif Request.Path_Is ("/x-forwarded") then Proxy_Service.X_Forwarded (Request)
      elsif Request.Path_Is ("/count") then Count (Self, Request)
      elsif Request.Path_Is ("/cookies") then All_Cookies (Request)
      elsif Request.Path_Is ("/set-cookie") then New_Cookie (Request)
      elsif Site.Is_Open and then Request.Path_Starts_With ("/site/") then
        Site.Respond (Request, "/site/")
      elsif Request.Path_Is ("/form") then All_Fields (Request)
      elsif Stream_Services.Handles (Request) then Stream_Services.Respond (Request)
      else Status_Only (Not_Found));

   overriding function Policy_For
     (Self : in out Web_Service; Request : HTTP.Request) return Services.Content_Policy is
     (Stream_Services.Policy_For (Request));

   function Client (Request : HTTP.Request) return IP_Addresses.Address is
     (Proxies.Client_Address (Request, Proxy_Service.Trusted, Proxies.X_Forwarded));

   procedure Open_Log (Path, Format : String) is
   begin
      Log.Open (Path, Access_Logs.Line_Format'Value (Format), Client'Access);
   end Open_Log;

end Web_Services;
