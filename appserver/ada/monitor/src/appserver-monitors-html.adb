--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Strings.Fixed;
with Appserver.Monitors.JSON;
with Interfaces.C;
with System;

package body Appserver.Monitors.HTML is

   use Text_Sinks;

   function Page_Address return System.Address
     with Import, Convention => C, External_Name => "appserver_monitor_page";

   function Page_Length return Interfaces.C.size_t
     with Import, Convention => C, External_Name => "appserver_monitor_page_length";

   Place : constant String := "@FIGURES@";

   --  Escapes "<", so that a name cannot end the element that contains the metrics. In JSON, "<"
   --  occurs only in strings.

   type Escaped_Sink (To : not null access Text_Sink'Class) is
     limited new Text_Sink with null record;

   overriding procedure Append (Self : in out Escaped_Sink; Text : String);

   overriding procedure Append (Self : in out Escaped_Sink; Text : String) is
      First : Positive := Text'First;
   begin
      for K in Text'Range loop
         if Text (K) = '<' then
            Self.To.Append (Text (First .. K - 1));
            Self.To.Append ("\u003c");
            First := K + 1;
         end if;
      end loop;
      Self.To.Append (Text (First .. Text'Last));
   end Append;

   procedure Write
     (Self        : in out Monitor;
      To          : in out Text_Sink'Class;
      Application : String := "")
   is
      Page   : String (1 .. Natural (Page_Length)) with Import, Address => Page_Address;
      First  : constant Positive := Ada.Strings.Fixed.Index (Page, Place);
      Escape : aliased Escaped_Sink (To'Unchecked_Access);
   begin
      To.Append (Page (1 .. First - 1));
      JSON.Write (Self, Escape'Access, Application);
      To.Append (Page (First + Place'Length .. Page'Last));
   end Write;

end Appserver.Monitors.HTML;
