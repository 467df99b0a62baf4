--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A server with the embedded profile, which serves until its input ends, and then prints the
--  number of heap allocations since it started: counted_device DIRECTORY
--  HEADER_SECONDS

with Ada.Command_Line;
with Ada.Text_IO;
with Appserver.HTTP.Embedded;
with Counted_Heap;
with Counted_Service;

procedure Counted_Device is

   use Ada.Text_IO;
   use Appserver;

   package Web is new HTTP.Embedded
     (Service         => Counted_Service.Compressed'Access,
      Request_Content => 1_024,
      Log             => Counted_Service.Log'Access);

   Calls : Natural;
begin
   Counted_Service.Open (Ada.Command_Line.Argument (1));
   Web.Open (Times => (Header => Duration'Value (Ada.Command_Line.Argument (2)), others => <>));
   Put_Line ("http://127.0.0.1:" & Web.Port'Image (2 .. Web.Port'Image'Last));
   Calls := Counted_Heap.Calls;
   Web.Serve_Until_Input (File => 0);
   Web.Close;
   Calls := Counted_Heap.Calls - Calls;
   Put_Line (Calls'Image);
end Counted_Device;
