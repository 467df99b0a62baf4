--  SPDX-License-Identifier: Apache-2.0

with API;
with AWS.Config.Set;
with AWS.Server.Status;
with Interfaces;
with Open_Files;

package body Serving is

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

      Workers : constant Interfaces.Unsigned_64 := Arguments.Number ("workers", 1, 1_000);
      Config  : AWS.Config.Object := AWS.Config.Get_Current;
   begin
      Open_Files.Raise_Limit;

      AWS.Config.Set.Server_Host (Config, "127.0.0.1");
      AWS.Config.Set.Server_Port (Config, 0);
      AWS.Config.Set.WWW_Root (Config, Arguments.Text ("files"));
      AWS.Config.Set.Max_Connection (Config, Positive (Workers));

      AWS.Server.Start (Self.Server, API.Dispatcher, Config);

      --  A worker of this server is a task that waits for connections, reads a request and runs its
      --  handler: one at a time waits for all connections that are idle
      Settings.Add ("url", AWS.Server.Status.Local_URL (Self.Server));
      Settings.Add ("workers", Workers);
      Settings.Add ("loops", 1);
   end Open;

   -----------
   -- Close --
   -----------

   overriding procedure Close (Self : in out Serve_Case) is
   begin
      AWS.Server.Shutdown (Self.Server);
   end Close;

end Serving;
