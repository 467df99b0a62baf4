--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

package body Shop is

   procedure Show_Root (Answer : in out REST.Document_Answer) is
   begin
      Answer.Start_Document;
      Answer.Write_Entity ("path", Answer.Request.Path);
      Answer.End_Document;
   end Show_Root;

   procedure Show_Name (Name : String; Answer : in out REST.Document_Answer) is
   begin
      Answer.Start_Document;
      Answer.Write_Entity ("name", Name);
      Answer.End_Document;
   end Show_Name;

   procedure Show_Amount (Value : Amount; Answer : in out REST.Document_Answer) is
   begin
      Answer.Start_Document;
      Answer.Write_Entity ("amount", Documents.Integer_64 (Value));
      Answer.End_Document;
   end Show_Amount;

   procedure Show_Two
     (Value : Amount; Paint : Colour; Answer : in out REST.Document_Answer) is
   begin
      Answer.Start_Document;
      Answer.Write_Entity ("amount", Documents.Integer_64 (Value));
      Answer.Write_Entity ("colour", Paint'Image);
      Answer.End_Document;
   end Show_Two;

   procedure Show_Three
     (Name : String; Value : Amount; Paint : Colour; Answer : in out REST.Document_Answer) is
   begin
      Answer.Start_Document;
      Answer.Write_Entity ("name", Name);
      Answer.Write_Entity ("amount", Documents.Integer_64 (Value));
      Answer.Write_Entity ("colour", Paint'Image);
      Answer.End_Document;
   end Show_Three;

   procedure Show_First (First : String; Answer : in out REST.Document_Answer) is
   begin
      Answer.Start_Document;
      Answer.Write_Entity ("first", First);
      Answer.End_Document;
   end Show_First;

   procedure Show_Rest (Value : String; Answer : in out REST.Document_Answer) is
   begin
      Answer.Start_Document;
      Answer.Write_Entity ("rest", Value);
      Answer.End_Document;
   end Show_Rest;

   procedure Show_First_And_Rest (First, Last : String; Answer : in out REST.Document_Answer) is
   begin
      Answer.Start_Document;
      Answer.Write_Entity ("first", First);
      Answer.Write_Entity ("rest", Last);
      Answer.End_Document;
   end Show_First_And_Rest;

   procedure Show_Nothing (Answer : in out REST.Document_Answer) is null;

   procedure Create (Answer : in out REST.Document_Answer) is
   begin
      Answer.Set_Status (Created);
      Answer.Add_Field ("Location", "/hello/Ada");
   end Create;

   procedure Refuse (Answer : in out REST.Document_Answer) is
   begin
      Answer.Start_Document;
      Answer.Write_Entity ("too", "late");
      Answer.Refuse (Conflict, "it's <taken>");
   end Refuse;

   procedure Forget (Answer : in out REST.Document_Answer) is
   begin
      Answer.Start_Document;
   end Forget;

   procedure Write_Constant (Document : in out Documents.Writer) is
   begin
      Document.Start_Document ("constant");
      Document.Write_Entity ("pi", 3);
      Document.End_Document;
   end Write_Constant;

   Service : constant REST.Service := REST.Service_Of (Routes);

   function Handle (Request : HTTP.Request) return HTTP.Response is (Service.Answer (Request));

end Shop;
