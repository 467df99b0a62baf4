--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Parses responses, and creates requests.

package Response_Texts is

   New_Line : constant String := ASCII.CR & ASCII.LF;

   function Request_Text
     (Line : String; Fields : String := ""; Content : String := "") return String is
     (Line & " HTTP/1.1" & New_Line & "Host: localhost" & New_Line
      & (if Content = "" then "" else "Content-Length:" & Content'Length'Image & New_Line)
      & Fields & New_Line & Content);
   --  Creates a request. Each field in Fields must end with New_Line.

   function Status (Response : String) return String is
     (Response (Response'First + 9 .. Response'First + 11));

   function Field (Response, Name : String) return String;
   --  Returns the value of a field; "-" if there is none. Name is case-sensitive.

   function Content (Response : String) return String;
   --  Returns the content of the first response, up to the end of the text

end Response_Texts;
