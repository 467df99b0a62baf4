--  SPDX-License-Identifier: Apache-2.0

with Ada.Environment_Variables;
with Ada.Real_Time; use Ada.Real_Time;

with API;
with AWS.Config.Set;
with AWS.Server.Status;
with AWS.Templates;
with Interfaces;
with Open_Files;

package body Serving is

   Max_Wait : constant Duration :=
     Duration'Value (Ada.Environment_Variables.Value ("CLOSE_TIMEOUT_S", "4.0"));
   --  The maximum time in seconds to wait for requests in progress when the server shuts down. In
   --  tests, an environment variable sets it.

   function Has_Request (Server : AWS.Server.HTTP) return Boolean;
   --  Returns True if the header of a request has arrived whose response has not been sent yet

   -----------------
   -- Has_Request --
   -----------------

   function Has_Request (Server : AWS.Server.HTTP) return Boolean is
      use AWS.Templates;

      Figures : constant Translate_Set := AWS.Server.Status.Translations (Server);
      Phases  : constant Tag := Get (Get (Figures, "PHASE_V"));
   begin
      return
        (for some Line in 1 .. Size (Phases) =>
           Item (Phases, Line) in "CLIENT_DATA" | "SERVER_PROCESSING" | "SERVER_RESPONSE");
   end Has_Request;

   ----------
   -- Open --
   ----------

   overriding procedure Open
     (Self      : in out Serve_Case;
      Arguments : Benchlab.Fields.Field_List;
      Inputs    : Benchlab.Seeded_Sequences.Sequence;
      Settings  : in out Benchlab.Fields.Field_List)
   is
      pragma Unreferenced (Inputs);

      Config : AWS.Config.Object := AWS.Config.Get_Current;
   begin
      Open_Files.Raise_Limit;

      AWS.Config.Set.Server_Host (Config, "127.0.0.1");
      AWS.Config.Set.Server_Port (Config, 0);
      AWS.Config.Set.WWW_Root (Config, Arguments.Text ("files"));

      API.Keep_Connections (True);
      AWS.Server.Start (Self.Server, API.Dispatcher, Config);

      --  Each open connection has its own task, which runs the handlers. So the number of tasks is
      --  the number of connections, regardless of "workers".
      Settings.Add ("url", AWS.Server.Status.Local_URL (Self.Server));
      Settings.Add
        ("workers", Interfaces.Unsigned_64 (AWS.Config.Max_Connection (Config)));
      Settings.Add ("loops", 1);
   end Open;

   -----------
   -- Close --
   -----------

   overriding procedure Close (Self : in out Serve_Case) is
      Deadline : constant Time := Clock + To_Time_Span (Max_Wait);
   begin
      --  Shutdown would immediately close the connections, together with their pending requests
      API.Keep_Connections (False);
      while Has_Request (Self.Server) and then Clock < Deadline loop
         delay 0.01;
      end loop;

      AWS.Server.Shutdown (Self.Server);
   end Close;

end Serving;
