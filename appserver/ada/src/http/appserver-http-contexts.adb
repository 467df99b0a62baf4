--  SPDX-License-Identifier: Apache-2.0

with Appserver.HTTP.Linux;
with Appserver.HTTP.Parsing;

package body Appserver.HTTP.Contexts is

   New_Line : constant String := [ASCII.CR, ASCII.LF];

   Longest_Copy : constant := 8_192;
   --  Of constant text: longer ones are sent from where they are

   procedure Drop (Self : in out Tail) is
   begin
      if Self.File /= No_File then
         Linux.Close (Self.File);
      end if;
      Self := No_Tail;
   end Drop;

   procedure Pass_On
     (Report       : Exception_Report;
      Error        : Ada.Exceptions.Exception_Occurrence;
      Request_Line : String := "") is
   begin
      if Report /= null then
         Report (Error, Request_Line);
      end if;
   exception
      when others =>
         null;
   end Pass_On;

   function Called
     (Handle  : Handler;
      Service : Services.Service_Reference;
      Self    : Context;
      Report  : Exception_Report) return Response
   is
      use type Services.Service_Reference;
   begin
      Self.Request.Draft.Clear;
      return
        (if Service = null then Handle (Self.Request) else Service.Answer (Self.Request));
   exception
      when Error : others =>
         Pass_On (Report, Error, Self.Request.Line);
         Self.Request.Draft.Clear;
         return Empty (Internal_Error);
   end Called;

   -------------
   -- Writing --
   -------------

   procedure Put (Self : in out Context; Text : String) with Inline;

   procedure Put (Self : in out Context; Text : String) is
   begin
      Self.Output (Self.Last + 1 .. Self.Last + Text'Length) := Text;
      Self.Last := Self.Last + Text'Length;
   end Put;

   procedure Put_Number (Self : in out Context; Number : Byte_Count) is
      Image : String (1 .. 19);
      First : Positive   := Image'Last + 1;
      Rest  : Byte_Count := Number;
   begin
      loop
         First := First - 1;
         Image (First) := Character'Val (Character'Pos ('0') + Rest mod 10);
         Rest := Rest / 10;
         exit when Rest = 0;
      end loop;
      Put (Self, Image (First .. Image'Last));
   end Put_Number;

   procedure Put_Status (Self : in out Context; Status : Status_Code; Date : Dates.Date_Text) is
   begin
      Self.Status := Status;
      Self.Length := 0;
      if Status = OK then
         Put (Self, "HTTP/1.1 200 OK" & New_Line & "Date: ");
      else
         Put (Self, "HTTP/1.1 ");
         Put_Number (Self, Byte_Count (Status));
         Put (Self, " " & Reason (Status) & New_Line & "Date: ");
      end if;
      Put (Self, Date);
      Put (Self, New_Line);
   end Put_Status;

   --  An old client is told if the connection is kept, a new one if it is not (RFC 9112, 9.3)

   procedure Put_Connection (Self : in out Context; Closes : Boolean) is
   begin
      if Closes then
         Put (Self, "Connection: close" & New_Line);
      elsif Parsing.Is_Old (Self.Request) then
         Put (Self, "Connection: keep-alive" & New_Line);
      end if;
   end Put_Connection;

   procedure Put_Length (Self : in out Context; Length : Byte_Count) is
   begin
      Self.Length := Length;
      Put (Self, "Content-Length: ");
      Put_Number (Self, Length);
      Put (Self, New_Line);
   end Put_Length;

   -------------
   -- Content --
   -------------

   --  204 and 304 have none, and no length of it either (RFC 9110, 8.6)

   function Has_Content (Status : Status_Code) return Boolean is
     (Status not in No_Content | Not_Modified);

   function Content_Length (Self : Context; Answer : Response) return Byte_Count is
     (case Answer.Kind is
         when None       => 0,
         when Fixed_Text => Answer.Content'Length,
         when Draft_Text => Byte_Count (Self.Draft.Text_Length),
         when File_Bytes => Self.Draft.File_Length);

   procedure Put_Content (Self : in out Context; Answer : Response) is
   begin
      case Answer.Kind is
         when None =>
            null;
         when Fixed_Text =>
            if Answer.Content'Length <= Longest_Copy
              and then Answer.Content'Length <= Self.Output_Capacity - Self.Last
            then
               Put (Self, Answer.Content.all);
            else
               Self.Tail := (No_File, Answer.Content, 0, Answer.Content'Length);
            end if;
         when Draft_Text =>
            Put (Self, Self.Draft.Text (1 .. Self.Draft.Text_Length));
         when File_Bytes =>
            Self.Tail :=
              (Self.Draft.File, null, Self.Draft.Offset, Self.Draft.File_Length);
            Self.Draft.File := No_File;
            if Self.Tail.Length = 0 then
               Drop (Self.Tail);
            end if;
      end case;
   end Put_Content;

   -------------
   -- Answers --
   -------------

   procedure Put_Answer
     (Self   : in out Context;
      Answer : Response;
      Date   : Dates.Date_Text;
      Closes : Boolean) is
   begin
      if Answer.Kind = File_Bytes and then not Self.Draft.Has_File then
         --  The handler promised what it did not attach
         Self.Draft.Clear;
         Put_Answer (Self, Empty (Internal_Error), Date, Closes);
         return;
      end if;
      Put_Status (Self, Answer.Status, Date);
      if Has_Content (Answer.Status) then
         if Answer.Media_Type /= null then
            Put (Self, "Content-Type: ");
            Put (Self, Answer.Media_Type.all);
            Put (Self, New_Line);
         end if;
         Put_Length (Self, Content_Length (Self, Answer));
      end if;
      Put_Connection (Self, Closes);
      Put (Self, Self.Draft.Fields (1 .. Self.Draft.Fields_Length));
      Put (Self, New_Line);
      if Has_Content (Answer.Status) and then not Self.Request.Is_Head then
         Put_Content (Self, Answer);
      end if;
      if Self.Draft.Has_File then
         Self.Draft.Clear;
      end if;
   end Put_Answer;

   procedure Put_Server_Answer
     (Self : in out Context; Date : Dates.Date_Text; Closes : Boolean) is
   begin
      Put_Status (Self, No_Content, Date);
      Put (Self, "Allow: GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS" & New_Line);
      Put_Connection (Self, Closes);
      Put (Self, New_Line);
   end Put_Server_Answer;

   procedure Put_Refusal
     (Self : in out Context; Status : Status_Code; Date : Dates.Date_Text) is
   begin
      Put_Status (Self, Status, Date);
      Put_Length (Self, 0);
      Put_Connection (Self, Closes => True);
      Put (Self, New_Line);
   end Put_Refusal;

   procedure Put_Continue (Self : in out Context) is
   begin
      Put (Self, "HTTP/1.1 100 Continue" & New_Line & New_Line);
   end Put_Continue;

end Appserver.HTTP.Contexts;
