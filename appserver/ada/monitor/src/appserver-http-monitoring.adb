--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Unchecked_Deallocation;
with Appserver.Monitors.HTML;
with Appserver.Monitors.JSON;
with Appserver.Monitors.Prometheus;

package body Appserver.HTTP.Monitoring is

   use type Services.Plan_Kind;

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

   --  The path where it is, without a copy

   procedure Start (Timed : aliased in out Monitors.Timed_Request; Request : HTTP.Request) is
   begin
      Monitors.Start
        (Timed, Names (Request.Kind).all,
         Request.Bytes (Request.Target.First .. Request.Target.Last));
   end Start;

   procedure Finish
     (Timed : in out Monitors.Timed_Request; Request : HTTP.Request; Status : Status_Code) is
   begin
      Monitors.Finish
        (Timed, Natural (Status), Request.Bytes (Request.Target.First .. Request.Target.Last));
   end Finish;

   -------------
   -- Figures --
   -------------

   type Text_Access is access String;

   procedure Free is new Ada.Unchecked_Deallocation (String, Text_Access);

   --  Text that grows, and is sent then

   type Growing_Text is limited new Text_Sinks.Text_Sink and Content_Source with record
      Text   : Text_Access := new String (1 .. 65_536);
      Length : Natural := 0;
      Sent   : Natural := 0;
   end record;

   type Growing_Access is access all Growing_Text;

   overriding procedure Append (Self : in out Growing_Text; Text : String);
   overriding procedure Give (Self : in out Growing_Text; Into : out String; Count : out Natural);
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

   overriding procedure Give (Self : in out Growing_Text; Into : out String; Count : out Natural) is
   begin
      Count := Natural'Min (Into'Length, Self.Length - Self.Sent);
      Into (Into'First .. Into'First + Count - 1) :=
        Self.Text (Self.Sent + 1 .. Self.Sent + Count);
      Self.Sent := Self.Sent + Count;
   end Give;

   overriding procedure Close (Self : not null access Growing_Text) is
      Item : Growing_Access := Growing_Access (Self);
   begin
      Free (Item.Text);
      Free (Item);
   end Close;

   type Figures_Format is (Page, Metrics, JSON);

   Media_Types : constant array (Figures_Format) of not null Constant_Text :=
     [Page    => Monitors.HTML.Media_Type'Access,
      Metrics => Monitors.Prometheus.Media_Type'Access,
      JSON    => JSON_Text'Access];

   function Has (Text, Part : String) return Boolean is
     (for some First in Text'First .. Text'Last - Part'Length + 1 =>
         Text (First .. First + Part'Length - 1) = Part);

   function Format_For (Accepted : String) return Figures_Format is
     (if Has (Accepted, "text/html") then Page
      elsif Has (Accepted, "application/json") then JSON
      elsif Has (Accepted, "text/plain") or else Has (Accepted, "openmetrics") then Metrics
      else JSON);

   function Answer_In
     (Self : in out Monitor_Filter'Class; Request : HTTP.Request; Form : Figures_Format)
      return Response
   is
      Text : Growing_Access := new Growing_Text;
   begin
      Request.Draft.Add_Field ("Cache-Control", "no-store");
      Request.Draft.Add_Field ("X-Content-Type-Options", "nosniff");
      case Form is
         when Page =>
            Request.Draft.Add_Field ("Content-Security-Policy", Monitors.HTML.Policy);
            Monitors.HTML.Write (Self.Monitor.all, Text.all, Self.Application);
         when Metrics =>
            Monitors.Prometheus.Write (Self.Monitor.all, Text.all);
         when JSON =>
            Monitors.JSON.Write (Self.Monitor.all, Text, Self.Application);
      end case;
      Request.Draft.Attach (Text.all'Unchecked_Access, Byte_Count (Text.Length));
      return Streamed (Media_Types (Form));
   exception
      when others =>
         if not Request.Draft.Has_Source then
            Free (Text.Text);
            Free (Text);
         end if;
         raise;
   end Answer_In;

   Refusal : aliased constant String :=
     "Only this machine may see the monitor, unless the program's May_See says otherwise."
     & ASCII.LF;

   --  Subpath is the path behind that of the monitor

   function Monitor_Answer
     (Self : in out Monitor_Filter'Class; Request : HTTP.Request; Subpath : String)
      return Response is
   begin
      if not Self.May_See (Request) then
         return Fixed (Plain_Text'Access, Refusal'Access, Forbidden);
      elsif Request.Method /= Get then
         return Not_Allowed (Request, "GET, HEAD");
      elsif Subpath = "/page" then
         return Answer_In (Self, Request, Page);
      elsif Subpath = "/metrics" then
         return Answer_In (Self, Request, Metrics);
      elsif Subpath = "/json" then
         return Answer_In (Self, Request, JSON);
      end if;
      Request.Draft.Add_Field ("Vary", "Accept");
      return Answer_In (Self, Request, Format_For (Request.Field ("Accept")));
   end Monitor_Answer;

   --  Behind the path of the monitor: 0 if it is another path

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
         return (if Subpath in "" | "/page" | "/metrics" | "/json" then Behind else 0);
      end;
   end Subpath_First;

   Loopback : constant IP_Addresses.Block_List :=
     [IP_Addresses.Block ("127.0.0.0/8"), IP_Addresses.Block ("::1")];

   function May_See (Self : Monitor_Filter; Request : HTTP.Request) return Boolean is
     (IP_Addresses.Contains (Loopback, Request.Client_Address)
      and then not Request.Has_Field ("Forwarded")
      and then not Request.Has_Field ("X-Forwarded-For"));

   -------------
   -- Answers --
   -------------

   overriding function Answer
     (Self : in out Monitor_Filter; Request : HTTP.Request) return Response
   is
      First : constant Natural := Subpath_First (Self, Request);
      Timed : aliased Monitors.Timed_Request (Self.Monitor);
   begin
      if First > 0 then
         return Monitor_Answer (Self, Request, Request.Bytes (First .. Request.Target.Last));
      end if;
      Start (Timed, Request);
      return Result : constant Response := Self.Next.Answer (Request) do
         Finish (Timed, Request, Result.Status);
      end return;
   exception
      when others =>
         if First = 0 then
            Finish (Timed, Request, Internal_Error);
         end if;
         raise;
   end Answer;

   ---------------
   -- Receivers --
   ---------------

   type Timed_Receiver (Monitor : not null access Monitors.Monitor) is
     limited new Services.Content_Receiver with record
      Inner : Services.Receiver_Reference;
      Timed : aliased Monitors.Timed_Request (Monitor);
   end record;

   type Timed_Receiver_Access is access all Timed_Receiver;

   overriding procedure Take
     (Self : in out Timed_Receiver; Bytes : String; Wants_More : in out Boolean);
   overriding function Answer
     (Self : in out Timed_Receiver; Request : HTTP.Request) return Response;
   overriding procedure Close (Self : not null access Timed_Receiver);

   procedure Free is new Ada.Unchecked_Deallocation (Timed_Receiver, Timed_Receiver_Access);

   overriding procedure Take
     (Self : in out Timed_Receiver; Bytes : String; Wants_More : in out Boolean) is
   begin
      Monitors.Resume (Self.Timed);
      Self.Inner.Take (Bytes, Wants_More);
      Monitors.Pause (Self.Timed);
   exception
      when others =>
         Monitors.Finish (Self.Timed, Natural (Internal_Error));
         raise;
   end Take;

   overriding function Answer
     (Self : in out Timed_Receiver; Request : HTTP.Request) return Response is
   begin
      Monitors.Resume (Self.Timed);
      return Result : constant Response := Self.Inner.Answer (Request) do
         Finish (Self.Timed, Request, Result.Status);
      end return;
   exception
      when others =>
         Finish (Self.Timed, Request, Internal_Error);
         raise;
   end Answer;

   overriding procedure Close (Self : not null access Timed_Receiver) is
      Item : Timed_Receiver_Access := Timed_Receiver_Access (Self);
   begin
      Item.Inner.Close;
      Free (Item);
   end Close;

   overriding function Plan
     (Self : in out Monitor_Filter; Request : HTTP.Request) return Services.Content_Plan
   is
      Timed : aliased Monitors.Timed_Request (Self.Monitor);
   begin
      if Subpath_First (Self, Request) > 0 then
         return Services.Buffered;
      end if;
      Start (Timed, Request);
      declare
         Plan : constant Services.Content_Plan := Filters.Filter (Self).Plan (Request);
         Item : Timed_Receiver_Access;
      begin
         case Services.Kind_Of (Plan) is
            when Services.Buffer =>
               Monitors.Pause (Timed);
               return Plan;
            when Services.Refuse =>
               Finish (Timed, Request, Services.Answer_Of (Plan).Status);
               return Plan;
            when Services.Stream =>
               Monitors.Pause (Timed);
               Item := new Timed_Receiver (Self.Monitor);
               Item.Inner := Services.Receiver_Of (Plan);
               Start (Item.Timed, Request);
               Monitors.Pause (Item.Timed);
               return Services.With_Passed
                 (Services.Received (Item.all'Unchecked_Access, Services.Limit_Of (Plan)),
                  Services.Passed_By (Plan));
         end case;
      end;
   exception
      when others =>
         Finish (Timed, Request, Internal_Error);
         raise;
   end Plan;

end Appserver.HTTP.Monitoring;
