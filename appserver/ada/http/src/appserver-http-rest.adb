--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Characters.Handling;
with Appserver.HTTP.REST.Trees;
with Appserver.Numerals;
with Interfaces;

package body Appserver.HTTP.REST is

   use type Documents.Format;

   ---------------
   -- Responses --
   ---------------

   procedure Set_Status (Self : in out Document_Response; Status : Status_Code) is
   begin
      Self.Status     := Status;
      Self.Has_Status := True;
   end Set_Status;

   procedure Add_Field (Self : in out Document_Response; Name, Value : String) is
   begin
      Self.Request.Builder.Add_Field (Name, Value);
   end Add_Field;

   procedure Refuse (Self : in out Document_Response; Status : Status_Code; Why : String := "") is
   begin
      Self.Refused       := True;
      Self.Status        := Status;
      Self.Reason_Length := Natural'Min (Why'Length, Max_Reason_Length);
      Self.Reason (1 .. Self.Reason_Length) :=
        Why (Why'First .. Why'First + Self.Reason_Length - 1);
   end Refuse;

   ----------------
   -- Parameters --
   ----------------

   package body Integer_Parameters is

      function Is_Valid (Text : String) return Boolean is
         use type Numerals.Outcome;

         Value  : Interfaces.Integer_64;
         Result : Numerals.Outcome;
      begin
         Numerals.Convert (Text, Value, Result);
         return Result = Numerals.Converted
           and then Value in Interfaces.Integer_64 (Number'First)
                               .. Interfaces.Integer_64 (Number'Last);
      end Is_Valid;

      function Value_Of (Text : String) return Number is
         Value  : Interfaces.Integer_64;
         Result : Numerals.Outcome;
      begin
         Numerals.Convert (Text, Value, Result);
         return Number (Value);
      end Value_Of;

   end Integer_Parameters;

   package body Choice_Parameters is

      function Image (Value : Choice) return String is
        (Ada.Characters.Handling.To_Lower (Value'Image));

      function Is_Valid (Text : String) return Boolean is
        (for some Value in Choice => Image (Value) = Text);

      function Value_Of (Text : String) return Choice is
      begin
         for Value in Choice loop
            if Image (Value) = Text then
               return Value;
            end if;
         end loop;
         return Choice'First;
      end Value_Of;

   end Choice_Parameters;

   --  Stores the decoded text on the primary stack, since the secondary stack would take longer

   procedure Read_Decoded
     (Text          : String;
      Plus_Is_Space : Boolean;
      Read          : not null access procedure (Text : String))
   is
      Result : String (1 .. Text'Length);
      Last   : Natural;
   begin
      Decode (Text, Plus_Is_Space, Result, Last);
      Read (Result (1 .. Last));
   end Read_Decoded;

   procedure Read_From_Path
     (Text : String; Read : not null access procedure (Text : String))
     with Inline
   is
   begin
      if (for some C of Text => C = '%') then
         Read_Decoded (Text, Plus_Is_Space => False, Read => Read);
      else
         Read (Text);
      end if;
   end Read_From_Path;

   procedure Read_From_Query
     (Text : String; Read : not null access procedure (Text : String))
     with Inline
   is
   begin
      if (for some C of Text => C in '%' | '+') then
         Read_Decoded (Text, Plus_Is_Space => True, Read => Read);
      else
         Read (Text);
      end if;
   end Read_From_Query;

   --  Not inlined, so that callers do not have to mark the secondary stack if nothing is encoded

   function Is_Decoded (Text, Name : String) return Boolean is
     (Decoded (Text, Plus_Is_Space => True) = Name)
     with No_Inline;

   --  Returns the range in the query of the value, after "=", of the first parameter with this name

   function Value_In_Query (Query, Name : String; Found : out Boolean) return Span is

      function Matches (Text : String) return Boolean is
        (Text = Name
         or else ((for some C of Text => C in '%' | '+') and then Is_Decoded (Text, Name)));

      First : Positive := Query'First;
      Last  : Natural;
      Sign  : Natural;
   begin
      while First <= Query'Last loop
         Last := First - 1;
         Sign := 0;
         while Last < Query'Last and then Query (Last + 1) /= '&' loop
            Last := Last + 1;
            if Sign = 0 and then Query (Last) = '=' then
               Sign := Last;
            end if;
         end loop;
         if Matches (Query (First .. (if Sign = 0 then Last else Sign - 1))) then
            Found := True;
            return ((if Sign = 0 then Last + 1 else Sign + 1), Last);
         end if;
         First := Last + 2;
      end loop;
      Found := False;
      return (others => <>);
   end Value_In_Query;

   --  Returns the text that the route's pattern captures with this name. The last capture belongs
   --  to the lowest name in the tree.

   function Captured (Self : Document_Response; Name : String) return Capture is
      Node     : Link    := Self.Node;
      Location : Natural := Self.Capture_Count;
   begin
      while Location > 0 loop
         if Node.Kind /= Literal then
            if Node.Text (1 .. Node.Length) = Name then
               return Self.Captured (Location);
            end if;
            Location := Location - 1;
         end if;
         Node := Node.Parent;
      end loop;
      raise Program_Error with "the route's pattern has no {" & Name & "}";
   end Captured;

   procedure Read_Parameter
     (Self     : Document_Response;
      Name     : String;
      Location : Parameter_Location;
      Default  : String;
      Read     : not null access procedure (Text : String))
   is
      Request : HTTP.Request renames Self.Request.all;
      Part    : Capture;
      Value   : Span;
      Found   : Boolean;
   begin
      case Location is
         when In_Path =>
            Part := Captured (Self, Name);
            Read_From_Path (Request.Bytes (Part.First .. Part.Last), Read);
         when In_Query =>
            Value := Value_In_Query
              (Request.Bytes (Request.Query_Part.First .. Request.Query_Part.Last), Name, Found);
            if Found then
               Read_From_Query (Request.Bytes (Value.First .. Value.Last), Read);
            else
               Read (Default);
            end if;
      end case;
   end Read_Parameter;

   --------------
   -- Handlers --
   --------------

   --  Reads a parameter of a handler, and calls Act with its value if it is valid

   generic
      with package Parameter is new Parameters (<>);
      with procedure Act (Value : Parameter.Value);
   procedure Convert (Response : in out Document_Response);

   procedure Convert (Response : in out Document_Response) is

      procedure Take (Text : String) is
      begin
         if Parameter.Is_Valid (Text) then
            Act (Parameter.Value_Of (Text));
         else
            Response.Refuse
              (Bad_Request, "the parameter " & Parameter.Parameter_Name & " is missing or invalid");
         end if;
      end Take;

   begin
      Read_Parameter
        (Response, Parameter.Parameter_Name, Parameter.Location, Parameter.Default, Take'Access);
   end Convert;

   procedure With_Parameter (Response : in out Document_Response) is

      procedure Take (Value : First.Value) is
      begin
         Handle (Value, Response);
      end Take;

      procedure Convert_First is new Convert (First, Take);
   begin
      Convert_First (Response);
   end With_Parameter;

   procedure With_Two_Parameters (Response : in out Document_Response) is

      procedure Take_First (First_Value : First.Value) is

         procedure Take_Second (Second_Value : Second.Value) is
         begin
            Handle (First_Value, Second_Value, Response);
         end Take_Second;

         procedure Convert_Second is new Convert (Second, Take_Second);
      begin
         Convert_Second (Response);
      end Take_First;

      procedure Convert_First is new Convert (First, Take_First);
   begin
      Convert_First (Response);
   end With_Two_Parameters;

   procedure With_Three_Parameters (Response : in out Document_Response) is

      procedure Take_First (First_Value : First.Value) is

         procedure Take_Second (Second_Value : Second.Value) is

            procedure Take_Third (Third_Value : Third.Value) is
            begin
               Handle (First_Value, Second_Value, Third_Value, Response);
            end Take_Third;

            procedure Convert_Third is new Convert (Third, Take_Third);
         begin
            Convert_Third (Response);
         end Take_Second;

         procedure Convert_Second is new Convert (Second, Take_Second);
      begin
         Convert_Second (Response);
      end Take_First;

      procedure Convert_First is new Convert (First, Take_First);
   begin
      Convert_First (Response);
   end With_Three_Parameters;

   ------------
   -- Routes --
   ------------

   function Route (Method : Method_Kind; Pattern : String; To : Target) return Path_Route is
   begin
      return Result : Path_Route do
         Result.Method := Method;
         Result.Handle := To;
         Result.Length := Pattern'Length;
         Result.Pattern (1 .. Pattern'Length) := Pattern;
      end return;
   end Route;

   function Route
     (Method : Method_Kind; Pattern : String; Handle : Document_Handler) return Path_Route is
     (Route (Method, Pattern, (Document, Document_Reference (Handle))));

   function Route
     (Method : Method_Kind; Pattern : String; Handle : Handler) return Path_Route is
     (Route (Method, Pattern, (Plain, Plain_Reference (Handle))));

   Max_Constant_Length : constant := 65_536;

   function Constant_Route
     (Pattern : String; Write : not null access procedure (Document : in out Documents.Writer))
      return Path_Route
   is
      Texts : Constant_Texts;
   begin
      for Form in Documents.Format loop
         declare
            Buffer   : aliased Text_Sinks.Text_Buffer (Max_Constant_Length);
            Document : Documents.Writer (Buffer'Access, Form);
         begin
            Write (Document);
            if Buffer.Is_Cut or else not Document.Is_Complete then
               raise Route_Error with "the document is too long or incomplete: " & Pattern;
            end if;
            Texts (Form) := new String'(Buffer.Content);
         end;
      end loop;
      return Route (Get, Pattern, (Constant_Document, Texts));
   end Constant_Route;

   function Service_Of (Routes : Route_List) return Service is
      Segments : Positive := 1;
   begin
      for Route of Routes loop
         for C of Route.Pattern (1 .. Route.Length) loop
            Segments := Segments + Boolean'Pos (C = '/');
         end loop;
      end loop;
      return Result : Service (Room => Segments) do
         Result.Count := 1;
         Result.Root  := Result.Nodes (1)'Unchecked_Access;
         for Route of Routes loop
            Trees.Add (Result, Route);
         end loop;
      end return;
   end Service_Of;

   ----------------
   -- Responding --
   ----------------

   --  Creates responses like Static_Response and Text_Response, but without checking each character
   --  of the media type, since the media types here are known to be valid

   function Answered
     (Form    : Documents.Format;
      Kind    : Content_Kind;
      Status  : Status_Code := OK;
      Content : Constant_Text := null) return Response is
     ((Status, Kind,
       (if Form = Documents.As_JSON then JSON_Text'Access else XML_Text'Access), Content));

   function Allow_Of (Routes : Targets) return String is
     ((if Routes (Get).Kind = None then "" else "GET, HEAD, ")
      & (if Routes (Post).Kind = None then "" else "POST, ")
      & (if Routes (Put).Kind = None then "" else "PUT, ")
      & (if Routes (Delete).Kind = None then "" else "DELETE, ")
      & (if Routes (Patch).Kind = None then "" else "PATCH, ")
      & "OPTIONS");

   Accept_Name : constant String := "Accept";

   --  Most clients use this capitalization, and nearly all other names have a different length

   function Is_Accept (Request : HTTP.Request; Name : Span) return Boolean is
     (Length (Name) = Accept_Name'Length
      and then (Request.Bytes (Name.First .. Name.Last) = Accept_Name
                or else Same (Request.Bytes (Name.First .. Name.Last), Accept_Name)))
     with Inline;

   --  The result of Add_Field ("Vary", "Accept"), computed in advance since every document needs it

   Vary_Line : constant String := "Vary: " & Accept_Name & ASCII.CR & ASCII.LF;

   procedure Add_Vary (Builder : in out Response_Builder) is
      Behind : constant Natural := Builder.Fields_Length + Vary_Line'Length;
   begin
      if Behind > Fields_Capacity then
         raise Response_Too_Large with
           "the header fields of the response are longer than the server allows";
      end if;
      Builder.Fields (Builder.Fields_Length + 1 .. Behind) := Vary_Line;
      Builder.Fields_Length := Behind;
   end Add_Vary;

   --  Returns a response with the reason, instead of the content that the handler wrote

   function Refusal (Response : Document_Response) return HTTP.Response is
      Builder : Response_Builder renames Response.Request.Builder.all;
      Problem : Documents.Writer (Response.Request.Builder, Response.Form);
   begin
      Builder.Truncate;
      if Response.Reason_Length = 0 then
         return Status_Only (Response.Status);
      end if;
      Problem.Start_Document ("problem");
      Problem.Write_Entity ("status", Documents.Integer_64 (Response.Status));
      Problem.Write_Entity ("title", Reason (Response.Status));
      Problem.Write_Entity ("detail", Response.Reason (1 .. Response.Reason_Length));
      Problem.End_Document;
      return Answered (Response.Form, Builder_Text, Response.Status);
   end Refusal;

   function Chosen_Of_Many (Request : HTTP.Request) return Documents.Choice is
     (Documents.Chosen (Request.Field (Accept_Name)))
     with No_Inline;

   --  Chooses the format by the field Accept, which is read in place if it has only one line, the
   --  usual case. Without the field, the format is JSON, as in Documents.Chosen.

   function Chosen (Request : HTTP.Request) return Documents.Choice is
      Found : Natural := 0;
   begin
      for K in 1 .. Request.Line_Count loop
         if Is_Accept (Request, Request.Lines (K).Name) then
            if Found > 0 then
               return Chosen_Of_Many (Request);
            end if;
            Found := K;
         end if;
      end loop;
      if Found = 0 then
         return (True, Documents.As_JSON);
      end if;
      return Documents.Chosen
        (Request.Bytes (Request.Lines (Found).Value.First .. Request.Lines (Found).Value.Last));
   end Chosen;

   function Constant_Response (Request : HTTP.Request; Texts : Constant_Texts) return Response is
      Choice : constant Documents.Choice := Chosen (Request);
   begin
      Add_Vary (Request.Builder.all);
      return
        (if Choice.Is_Possible
         then Answered (Choice.Form, Static_Text, Content => Texts (Choice.Form))
         else Status_Only (Not_Acceptable));
   end Constant_Response;

   function Handler_Response
     (Request : HTTP.Request;
      Handle  : not null Document_Reference;
      Found   : Trees.Match) return Response
   is
      Choice : constant Documents.Choice := Chosen (Request);
   begin
      Add_Vary (Request.Builder.all);
      if not Choice.Is_Possible then
         return Status_Only (Not_Acceptable);
      end if;
      declare
         Response : Document_Response (Request'Access, Request.Builder, Choice.Form);
      begin
         Response.Node          := Found.Node;
         Response.Capture_Count := Found.Count;
         for K in 1 .. Found.Count loop
            Response.Captured (K) := Found.Captured (K);
         end loop;
         Handle (Response);
         if Response.Refused then
            return Refusal (Response);
         elsif Response.Is_Complete then
            return Answered (Choice.Form, Builder_Text, Response.Status);
         elsif Response.Depth = 0 then
            return Status_Only (if Response.Has_Status then Response.Status else No_Content);
         else
            raise Program_Error with "a handler returned before it ended its document";
         end if;
      end;
   end Handler_Response;

   function Respond (Self : Service; Request : HTTP.Request) return Response is
      Found : Trees.Match;
   begin
      Trees.Find (Self, Request, Found);
      if Found.Node = null then
         return Status_Only (Not_Found);
      end if;
      declare
         Routes : Targets renames Found.Node.Routes;
         Route  : Target renames Routes (Request.Method);
      begin
         case Route.Kind is
            when None =>
               return Not_Allowed (Request, Allow_Of (Routes));
            when Plain =>
               return Route.Plain (Request);
            when Constant_Document =>
               return Constant_Response (Request, Route.Texts);
            when Document =>
               return Handler_Response (Request, Route.Document, Found);
         end case;
      end;
   end Respond;

end Appserver.HTTP.REST;
