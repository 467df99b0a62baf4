--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

package body Shop is

   procedure Show_Root (Response : in out REST.Document_Response) is
   begin
      Response.Start_Document;
      Response.Write_Entity ("path", Response.Request.Path);
      Response.End_Document;
   end Show_Root;

   procedure Show_Name (Name : String; Response : in out REST.Document_Response) is
   begin
      Response.Start_Document;
      Response.Write_Entity ("name", Name);
      Response.End_Document;
   end Show_Name;

   procedure Show_Amount (Value : Amount; Response : in out REST.Document_Response) is
   begin
      Response.Start_Document;
      Response.Write_Entity ("amount", Documents.Integer_64 (Value));
      Response.End_Document;
   end Show_Amount;

   procedure Show_Two
     (Value : Amount; Paint : Color; Response : in out REST.Document_Response) is
   begin
      Response.Start_Document;
      Response.Write_Entity ("amount", Documents.Integer_64 (Value));
      Response.Write_Entity ("color", Paint'Image);
      Response.End_Document;
   end Show_Two;

   procedure Show_Three
     (Name : String; Value : Amount; Paint : Color; Response : in out REST.Document_Response) is
   begin
      Response.Start_Document;
      Response.Write_Entity ("name", Name);
      Response.Write_Entity ("amount", Documents.Integer_64 (Value));
      Response.Write_Entity ("color", Paint'Image);
      Response.End_Document;
   end Show_Three;

   procedure Show_First (First : String; Response : in out REST.Document_Response) is
   begin
      Response.Start_Document;
      Response.Write_Entity ("first", First);
      Response.End_Document;
   end Show_First;

   procedure Show_Rest (Value : String; Response : in out REST.Document_Response) is
   begin
      Response.Start_Document;
      Response.Write_Entity ("rest", Value);
      Response.End_Document;
   end Show_Rest;

   procedure Show_First_And_Rest (First, Last : String; Response : in out REST.Document_Response) is
   begin
      Response.Start_Document;
      Response.Write_Entity ("first", First);
      Response.Write_Entity ("rest", Last);
      Response.End_Document;
   end Show_First_And_Rest;

   procedure Show_Nothing (Response : in out REST.Document_Response) is null;

   procedure Create (Response : in out REST.Document_Response) is
   begin
      Response.Set_Status (Created);
      Response.Add_Field ("Location", "/hello/Ada");
   end Create;

   procedure Refuse (Response : in out REST.Document_Response) is
   begin
      Response.Start_Document;
      Response.Write_Entity ("too", "late");
      Response.Refuse (Conflict, "it's <taken>");
   end Refuse;

   procedure Forget (Response : in out REST.Document_Response) is
   begin
      Response.Start_Document;
   end Forget;

   procedure Write_Constant (Document : in out Documents.Writer) is
   begin
      Document.Start_Document ("constant");
      Document.Write_Entity ("pi", 3);
      Document.End_Document;
   end Write_Constant;

   Service : constant REST.Service := REST.Service_Of (Routes);

   function Handle (Request : HTTP.Request) return HTTP.Response is (Service.Respond (Request));

end Shop;
