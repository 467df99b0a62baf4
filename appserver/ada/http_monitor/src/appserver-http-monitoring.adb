--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Unchecked_Deallocation;
with Appserver.Monitors.HTML;
with Appserver.Monitors.JSON;
with Appserver.Monitors.Prometheus;

package body Appserver.HTTP.Monitoring is

   use type Services.Policy_Kind;

   --------------
   -- Counting --
   --------------

   Get_Name     : aliased constant String := "GET";
   Post_Name    : aliased constant String := "POST";
   Put_Name     : aliased constant String := "PUT";
   Delete_Name  : aliased constant String := "DELETE";
   Patch_Name   : aliased constant String := "PATCH";
   Options_Name : aliased constant String := "OPTIONS";

   Names : constant array (Method_Kind) of not null Constant_Text :=
     [Get | Head => Get_Name'Access,
      Post       => Post_Name'Access,
      Put        => Put_Name'Access,
      Delete     => Delete_Name'Access,
      Patch      => Patch_Name'Access,
      Options    => Options_Name'Access];

   --  Starts a request without copying the path

   procedure Start (Timed : aliased in out Monitors.Timed_Request; Request : HTTP.Request) is
   begin
      Monitors.Start
        (Timed, Names (Request.Kind).all,
         Request.Bytes (Request.Target.First .. Request.Target.Last));
   end Start;

   procedure Finish
     (Timed : in out Monitors.Timed_Request; Request : HTTP.Request; Status : Status_Number) is
   begin
      Monitors.Finish
        (Timed, Natural (Status), Request.Bytes (Request.Target.First .. Request.Target.Last));
   end Finish;

   -------------
   -- Metrics --
   -------------

   type Text_Access is access String;

   procedure Free is new Ada.Unchecked_Deallocation (String, Text_Access);

   --  A growing text buffer, which is also the source of the response

   type Growing_Text is limited new Text_Sinks.Text_Sink and Content_Source with record
      Text   : Text_Access := new String (1 .. 65_536);
      Length : Natural := 0;
      Sent   : Natural := 0;
   end record;

   type Growing_Access is access all Growing_Text;

   overriding procedure Append (Self : in out Growing_Text; Text : String);
   overriding procedure Read (Self : in out Growing_Text; Into : out String; Count : out Natural);
   overriding procedure Close (Self : not null access Growing_Text);

   procedure Free is new Ada.Unchecked_Deallocation (Growing_Text, Growing_Access);

   overriding procedure Append (Self : in out Growing_Text; Text : String) is
   begin
      if Text'Length > Self.Text'Length - Self.Length then
         declare
            Larger : constant Text_Access :=
              new String (1 .. 2 * Self.Text'Length + Text'Length);
         begin
            Larger (1 .. Self.Length) := Self.Text (1 .. Self.Length);
            Free (Self.Text);
            Self.Text := Larger;
         end;
      end if;
      Self.Text (Self.Length + 1 .. Self.Length + Text'Length) := Text;
      Self.Length := Self.Length + Text'Length;
   end Append;

   overriding procedure Read (Self : in out Growing_Text; Into : out String; Count : out Natural) is
   begin
      Count := Natural'Min (Into'Length, Self.Length - Self.Sent);
      Into (Into'First .. Into'First + Count - 1) :=
        Self.Text (Self.Sent + 1 .. Self.Sent + Count);
      Self.Sent := Self.Sent + Count;
   end Read;

   overriding procedure Close (Self : not null access Growing_Text) is
      Item : Growing_Access := Growing_Access (Self);
   begin
      Free (Item.Text);
      Free (Item);
   end Close;

   type Metrics_Format is (Page, Metrics, JSON);

   Media_Types : constant array (Metrics_Format) of not null Constant_Text :=
     [Page    => Monitors.HTML.Media_Type'Access,
      Metrics => Monitors.Prometheus.Media_Type'Access,
      JSON    => JSON_Text'Access];

   function Has (Text, Part : String) return Boolean is
     (for some First in Text'First .. Text'Last - Part'Length + 1 =>
         Text (First .. First + Part'Length - 1) = Part);

   function Format_For (Accepted : String) return Metrics_Format is
     (if Has (Accepted, "text/html") then Page
      elsif Has (Accepted, "application/json") then JSON
      elsif Has (Accepted, "text/plain") or else Has (Accepted, "openmetrics") then Metrics
      else JSON);

   function Response_In
     (Monitor     : in out Monitors.Monitor;
      Application : String;
      Request     : HTTP.Request;
      Form        : Metrics_Format) return Response
   is
      Text : Growing_Access := new Growing_Text;
   begin
      Request.Builder.Add_Field ("Cache-Control", "no-store");
      Request.Builder.Add_Field ("X-Content-Type-Options", "nosniff");
      case Form is
         when Page =>
            Request.Builder.Add_Field ("Content-Security-Policy", Monitors.HTML.Policy);
            Monitors.HTML.Write (Monitor, Text.all, Application);
         when Metrics =>
            Monitors.Prometheus.Write (Monitor, Text.all);
         when JSON =>
            Monitors.JSON.Write (Monitor, Text, Application);
      end case;
      Request.Builder.Attach (Text.all'Unchecked_Access, Byte_Count (Text.Length));
      return Stream_Response (Media_Types (Form));
   exception
      when others =>
         if not Request.Builder.Has_Source then
            Free (Text.Text);
            Free (Text);
         end if;
         raise;
   end Response_In;

   --  Subpath is the rest of the path after the monitor's path

   function Is_Subpath (Subpath : String) return Boolean is
     (Subpath in "" | "/page" | "/metrics" | "/json");

   function Metrics_Response
     (Monitor     : in out Monitors.Monitor;
      Application : String;
      Request     : HTTP.Request;
      Subpath     : String) return Response
   is
      function In_Format (Form : Metrics_Format) return Response is
        (Response_In (Monitor, Application, Request, Form));
   begin
      if Request.Method /= Get then
         return Not_Allowed (Request, "GET, HEAD");
      elsif Subpath = "/page" then
         return In_Format (Page);
      elsif Subpath = "/metrics" then
         return In_Format (Metrics);
      elsif Subpath = "/json" then
         return In_Format (JSON);
      end if;
      Request.Builder.Add_Field ("Vary", "Accept");
      return In_Format (Format_For (Request.Field ("Accept")));
   end Metrics_Response;

   --  Returns the position after the monitor's path, or 0 for other paths

   function Subpath_First (Self : Monitor_Filter'Class; Request : HTTP.Request) return Natural is
      Path : String renames Self.Path.all;
   begin
      if not Request.Path_Starts_With (Path) then
         return 0;
      end if;
      declare
         Behind  : constant Positive := Request.Target.First + Path'Length;
         Subpath : String renames Request.Bytes (Behind .. Request.Target.Last);
      begin
         return (if Is_Subpath (Subpath) then Behind else 0);
      end;
   end Subpath_First;

   -------------------
   -- Authorization --
   -------------------

   --  Compares in constant time, independent of where the texts differ

   function Is_Equal (Left, Right : String) return Boolean is
      Difference : Natural := 0;
   begin
      if Left'Length /= Right'Length then
         return False;
      end if;
      for K in Left'Range loop
         Difference := Difference
           + Boolean'Pos (Left (K) /= Right (K - Left'First + Right'First));
      end loop;
      return Difference = 0;
   end Is_Equal;

   --  See RFC 4648, section 4

   function In_Base_64 (Text : String) return String is
      Digit  : constant String :=
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
      Result : String (1 .. (Text'Length + 2) / 3 * 4) := [others => '='];
      Bits   : Natural := 0;
      Held   : Natural := 0;
      --  The bits of Text that have not been written yet, and their number
      Last   : Natural := 0;
   begin
      for C of Text loop
         Bits := Bits * 256 + Character'Pos (C);
         Held := Held + 8;
         while Held >= 6 loop
            Held := Held - 6;
            Last := Last + 1;
            Result (Last) := Digit (1 + Bits / 2 ** Held);
            Bits := Bits mod 2 ** Held;
         end loop;
      end loop;
      if Held > 0 then
         Result (Last + 1) := Digit (1 + Bits * 2 ** (6 - Held));
      end if;
      return Result;
   end In_Base_64;

   --  Checks the origin that browsers report (W3C, Fetch Metadata Request Headers)

   function Asks_From_Here (Request : HTTP.Request) return Boolean is
     (Request.Field ("Sec-Fetch-Site", Default => "none") in "none" | "same-origin");

   function Has_Token (Request : HTTP.Request; Token : String) return Boolean is
      Value : constant String := Request.Field ("Authorization");

      function Is_After (Scheme, Credentials : String) return Boolean is
        (Value'Length > Scheme'Length
         and then Same (Value (Value'First .. Value'First + Scheme'Length - 1), Scheme)
         and then Is_Equal (Value (Value'First + Scheme'Length .. Value'Last), Credentials));
   begin
      return Asks_From_Here (Request)
        and then (Is_After ("Bearer ", Token)
                  or else Is_After ("Basic ", In_Base_64 ("monitor:" & Token)));
   end Has_Token;

   Loopback : constant IP_Addresses.Block_List :=
     [IP_Addresses.Block ("127.0.0.0/8"), IP_Addresses.Block ("::1")];

   function Is_Of_Loopback (Host : String) return Boolean is
     (Same (Host, "localhost")
      or else (IP_Addresses.Is_Address (Host)
               and then IP_Addresses.Contains (Loopback, IP_Addresses.Value (Host))));

   --  Returns True if Host is a name that always means the local machine. Any other name may belong
   --  to a page of another site whose name now resolves to this machine (DNS rebinding).

   function Is_Named_As_This (Host : String) return Boolean is
      Last : Natural := Host'Last;
   begin
      while Last >= Host'First and then Host (Last) in '0' .. '9' loop
         Last := Last - 1;
      end loop;
      Last := (if Last >= Host'First and then Host (Last) = ':' then Last - 1 else Host'Last);
      return
        (if Last > Host'First + 1 and then Host (Host'First) = '[' and then Host (Last) = ']'
         then Is_Of_Loopback (Host (Host'First + 1 .. Last - 1))
         else Is_Of_Loopback (Host (Host'First .. Last)));
   end Is_Named_As_This;

   function Is_Of_Proxy (Name : String) return Boolean is
     (Same (Name, "Forwarded")
      or else Same (Name, "Via")
      or else Same (Name, "X-Real-IP")
      or else Same (Name, "X-Client-IP")
      or else (Name'Length > 11
               and then Same (Name (Name'First .. Name'First + 10), "X-Forwarded")));

   function Asks_For_Itself (Request : HTTP.Request) return Boolean is
     (IP_Addresses.Contains (Loopback, Request.Client_Address)
      and then Is_Named_As_This (Request.Host)
      and then Asks_From_Here (Request)
      and then (for all K in 1 .. Request.Field_Count =>
                  not Is_Of_Proxy (Request.Field_Name (K))));

   function May_See (Self : Monitor_Filter; Request : HTTP.Request) return Boolean is
      Token : constant String := Monitor_Filter'Class (Self).Token;
   begin
      return Token /= "" and then Has_Token (Request, Token);
   end May_See;

   function May_See (Self : Monitor_Page; Request : HTTP.Request) return Boolean is
      pragma Unreferenced (Self);
   begin
      return Asks_For_Itself (Request);
   end May_See;

   ---------------
   -- Responses --
   ---------------

   --  Responds to requests for metrics, which are not recorded. Sets Has_Response to False if the
   --  next service must handle the request.

   procedure Try_Metrics
     (Self         : in out Monitor_Filter'Class;
      Request      : HTTP.Request;
      Response     : out HTTP.Response;
      Has_Response : out Boolean)
   is
      First : constant Natural := Subpath_First (Self, Request);
   begin
      Response     := Status_Only (Unauthorized);
      Has_Response := First > 0;
      if not Has_Response then
         null;
      elsif Self.May_See (Request) then
         Response := Metrics_Response
           (Self.Monitor.all, Self.Application, Request,
            Request.Bytes (First .. Request.Target.Last));
      elsif Self.Token /= "" then
         Request.Builder.Add_Field ("WWW-Authenticate", "Basic realm=""monitor""");
      else
         Has_Response := False;
      end if;
   end Try_Metrics;

   overriding function Respond
     (Self : in out Monitor_Filter; Request : HTTP.Request) return Response
   is
      Timed        : aliased Monitors.Timed_Request (Self.Monitor);
      Response     : HTTP.Response;
      Has_Response : Boolean;
   begin
      Try_Metrics (Self, Request, Response, Has_Response);
      if Has_Response then
         return Response;
      end if;
      Start (Timed, Request);
      begin
         return Result : constant HTTP.Response := Self.Next.Respond (Request) do
            Finish (Timed, Request, Result.Status);
         end return;
      exception
         when others =>
            Finish (Timed, Request, Internal_Error);
            raise;
      end;
   end Respond;

   Refusal : aliased constant String :=
     "Only clients on this machine may see the metrics, unless the application overrides May_See."
     & ASCII.LF;

   overriding function Respond
     (Self : in out Monitor_Page; Request : HTTP.Request) return Response
   is
      Path  : constant String := Request.Path;
      First : constant Positive :=
        (if Path = "/" then Path'Last + 1
         elsif Request.Path_Starts_With (Default_Path) then Path'First + Default_Path'Length
         else Path'First);
   begin
      if not Monitor_Page'Class (Self).May_See (Request) then
         return Static_Response (Plain_Text'Access, Refusal'Access, Forbidden);
      elsif not Is_Subpath (Path (First .. Path'Last)) then
         return Status_Only (Not_Found);
      end if;
      return Metrics_Response
        (Self.Monitor.all, Monitor_Page'Class (Self).Application, Request,
         Path (First .. Path'Last));
   end Respond;

   ---------------
   -- Receivers --
   ---------------

   type Timed_Receiver (Monitor : not null access Monitors.Monitor) is
     limited new Services.Content_Receiver with record
      Inner : Services.Receiver_Reference;
      Timed : aliased Monitors.Timed_Request (Monitor);
   end record;

   type Timed_Receiver_Access is access all Timed_Receiver;

   overriding procedure Receive
     (Self : in out Timed_Receiver; Bytes : String; Wants_More : in out Boolean);
   overriding function Respond
     (Self : in out Timed_Receiver; Request : HTTP.Request) return Response;
   overriding procedure Close (Self : not null access Timed_Receiver);

   procedure Free is new Ada.Unchecked_Deallocation (Timed_Receiver, Timed_Receiver_Access);

   overriding procedure Receive
     (Self : in out Timed_Receiver; Bytes : String; Wants_More : in out Boolean) is
   begin
      Monitors.Resume (Self.Timed);
      Self.Inner.Receive (Bytes, Wants_More);
      Monitors.Pause (Self.Timed);
   exception
      when others =>
         Monitors.Finish (Self.Timed, Natural (Internal_Error));
         raise;
   end Receive;

   overriding function Respond
     (Self : in out Timed_Receiver; Request : HTTP.Request) return Response is
   begin
      Monitors.Resume (Self.Timed);
      return Result : constant Response := Self.Inner.Respond (Request) do
         Finish (Self.Timed, Request, Result.Status);
      end return;
   exception
      when others =>
         Finish (Self.Timed, Request, Internal_Error);
         raise;
   end Respond;

   overriding procedure Close (Self : not null access Timed_Receiver) is
      Item : Timed_Receiver_Access := Timed_Receiver_Access (Self);
   begin
      Item.Inner.Close;
      Free (Item);
   end Close;

   overriding function Policy_For
     (Self : in out Monitor_Filter; Request : HTTP.Request) return Services.Content_Policy
   is
      Timed : aliased Monitors.Timed_Request (Self.Monitor);
   begin
      if Subpath_First (Self, Request) > 0
        and then (Monitor_Filter'Class (Self).Token /= ""
                  or else Monitor_Filter'Class (Self).May_See (Request))
      then
         return Services.Buffer;
      end if;
      Start (Timed, Request);
      declare
         Policy : constant Services.Content_Policy := Filters.Filter (Self).Policy_For (Request);
         Item   : Timed_Receiver_Access;
      begin
         case Services.Kind_Of (Policy) is
            when Services.Buffer =>
               Monitors.Pause (Timed);
               return Policy;
            when Services.Reject =>
               Finish (Timed, Request, Services.Response_Of (Policy).Status);
               return Policy;
            when Services.Stream =>
               Monitors.Pause (Timed);
               Item := new Timed_Receiver (Self.Monitor);
               Item.Inner := Services.Receiver_Of (Policy);
               Start (Item.Timed, Request);
               Monitors.Pause (Item.Timed);
               return Services.With_Passed
                 (Services.Stream (Item.all'Unchecked_Access, Services.Limit_Of (Policy)),
                  Services.Passed_By (Policy));
         end case;
      end;
   exception
      when others =>
         Finish (Timed, Request, Internal_Error);
         raise;
   end Policy_For;

end Appserver.HTTP.Monitoring;
