--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Unchecked_Deallocation;
with Appserver.HTTP.Files;
with Appserver.HTTP.Proxies;
with Appserver.IP_Addresses;
with Calculator;
with Hello;
with Proxy_Service;
with Stream_Services;
with Web_Services;

package body Counted_Service is

   use HTTP;

   Folder  : Files.Folder;
   Caching : aliased constant String := "no-cache";

   function Client (Request : HTTP.Request) return IP_Addresses.Address is
     (Proxies.Client_Address (Request, Proxy_Service.Trusted, Proxies.Forwarded));

   procedure Open (Folder : String) is
   begin
      Log.Open (Folder & "/access.log", Access_Logs.JSON, Client'Access);
      Counted_Service.Folder.Open
        (Folder, (Cache_Control => Caching'Access, Index => null, Precompressed => True));
   end Open;

   type Text_Reference is access String;

   procedure Free is new Ada.Unchecked_Deallocation (String, Text_Reference);

   function New_Text (Request : HTTP.Request) return Response is
      Text : Text_Reference := new String'(Request.Path);
   begin
      Request.Builder.Append (Text.all);
      Free (Text);
      return Text_Response (Plain_Text'Access);
   end New_Text;

   function Raised return Response is
     (raise Constraint_Error with "asked for");

   function Respond (Request : HTTP.Request) return Response is
     (if Request.Path_Starts_With ("/files/") then Folder.Respond (Request, "/files/")
      elsif Request.Path_Is ("/") or else Request.Path_Is ("/hello") then Hello.Respond (Request)
      elsif Request.Path_Is ("/forwarded") then Proxy_Service.Forwarded (Request)
      elsif Request.Path_Is ("/cookies") or else Request.Path_Is ("/form") then
        Web_Services.Shared_Service.Respond (Request)
      elsif Request.Path_Is ("/new") then New_Text (Request)
      elsif Request.Path_Is ("/raise") then Raised
      else Calculator.Respond (Request));

   overriding function Policy_For
     (Self : in out Counted; Request : HTTP.Request) return Services.Content_Policy is
     (Stream_Services.Policy_For (Request));

   overriding function Respond
     (Self : in out Counted; Request : HTTP.Request) return HTTP.Response is
     (if Stream_Services.Handles (Request) then Stream_Services.Respond (Request)
      else Respond (Request));

end Counted_Service;
