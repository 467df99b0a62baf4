--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Measures the time to read 200 cookies, the maximum of a request, in 16 KB, and to find each of
--  them by name: prints the minimum of many rounds

with Ada.Real_Time;
with Ada.Text_IO;
with Appserver.HTTP.Cookies;
with Appserver.HTTP.Trials;

procedure Cookie_Cost is

   use Ada.Real_Time;
   use Appserver;

   CRLF  : constant String := [Character'Val (13), Character'Val (10)];
   Value : constant String (1 .. 70) := [others => 'x'];
   Turns : constant := 200;

   function Name (Number : Positive) return String is
      Image : constant String := Number'Image;
   begin
      return "name" & Image (2 .. Image'Last);
   end Name;

   function Pairs (Count : Positive) return String is
     ((if Count = 1 then "" else Pairs (Count - 1) & "; ") & Name (Count) & "=" & Value);

   Cookies, Bytes : Natural := 0;

   procedure Count (Name, Value : String) is
   begin
      Cookies := Cookies + 1;
      Bytes := Bytes + Name'Length + Value'Length;
   end Count;

   procedure Show (Text : String; Shortest : Time_Span) is
   begin
      Ada.Text_IO.Put_Line
        (Text & Integer'Image (Shortest / Nanoseconds (1)) & " ns for" & Cookies'Image
         & " cookies," & Bytes'Image & " bytes");
   end Show;

   procedure Measure
     (Text : String; Request : HTTP.Request;
      Work : not null access procedure (Request : HTTP.Request))
   is
      Shortest : Time_Span := Time_Span_Last;
      Start    : Time;
   begin
      for Turn in 1 .. Turns loop
         Cookies := 0;
         Bytes := 0;
         Start := Clock;
         Work (Request);
         Shortest := (if Clock - Start < Shortest then Clock - Start else Shortest);
      end loop;
      Show (Text, Shortest);
   end Measure;

   procedure Read_All (Request : HTTP.Request) is
   begin
      HTTP.Cookies.Read (Request, Count'Access);
   end Read_All;

   procedure Find_All (Request : HTTP.Request) is
   begin
      for Number in 1 .. HTTP.Cookies.Max_Cookies loop
         Count (Name (Number), HTTP.Cookies.Cookie (Request, Name (Number)));
      end loop;
   end Find_All;

   function Handle (Request : HTTP.Request) return HTTP.Response is
   begin
      Measure ("read:", Request, Read_All'Access);
      Measure ("found by name:", Request, Find_All'Access);
      return HTTP.Status_Only (HTTP.OK);
   end Handle;

   Response : constant String := HTTP.Trials.Responses
     (Handle'Unrestricted_Access,
      "GET / HTTP/1.1" & CRLF & "Host: a" & CRLF & "Cookie: " & Pairs (HTTP.Cookies.Max_Cookies)
      & CRLF & CRLF);
begin
   Ada.Text_IO.Put_Line (Response (Response'First .. Response'First + 14));
end Cookie_Cost;
