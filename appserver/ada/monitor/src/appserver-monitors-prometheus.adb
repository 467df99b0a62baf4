--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Strings.Fixed;
with Appserver.UTF_8;

package body Appserver.Monitors.Prometheus is

   use Text_Sinks;

   LF : constant Character := ASCII.LF;

   First_Bound : constant := 14;
   Last_Bound  : constant := 36;
   --  The exponents of the powers of two, in nanoseconds

   function Image (Value : Word) return String is
     (Ada.Strings.Fixed.Trim (Value'Image, Ada.Strings.Left));

   --  Formats nanoseconds as seconds, exactly, with nine decimals

   function Seconds (Value : Word) return String is
      Fraction : constant String := Image (10 ** 9 + Value mod 10 ** 9);
   begin
      return Image (Value / 10 ** 9) & "." & Fraction (2 .. 10);
   end Seconds;

   function ASCII_Only (C : Character) return Character is (if C > '~' then '?' else C);

   --  One page name that is not valid UTF-8 would make the whole text unreadable

   function Printable (Text : String) return String is
     (if UTF_8.Is_Valid (Text) then Text
      else Ada.Strings.Fixed.Translate (Text, ASCII_Only'Access));

   procedure Append_Label (To : in out Text_Sink'Class; Name, Value : String) is
   begin
      To.Append (Name & "=""");
      for C of Printable (Value) loop
         case C is
            when '"' | '\' => To.Append ('\' & C);
            when LF        => To.Append ("\n");
            when others    => To.Append ([1 => C]);
         end case;
      end loop;
      To.Append ("""");
   end Append_Label;

   procedure Append_Head (To : in out Text_Sink'Class; Metric, Kind, Help : String) is
   begin
      To.Append ("# HELP appserver_monitor_" & Metric & " " & Help & LF);
      To.Append ("# TYPE appserver_monitor_" & Metric & " " & Kind & LF);
   end Append_Head;

   procedure Append_Line
     (To : in out Text_Sink'Class; Metric, Page, Value : String; Query, Bound : String := "") is
   begin
      To.Append ("appserver_monitor_" & Metric & "{");
      Append_Label (To, "page", Page);
      if Query /= "" then
         To.Append (",");
         Append_Label (To, "query", Query);
      end if;
      if Bound /= "" then
         To.Append (",le=""" & Bound & """");
      end if;
      To.Append ("} " & Value & LF);
   end Append_Line;

   procedure Append_Histogram (To : in out Text_Sink'Class; Name : String; Item : Statistics) is
      Metric : constant String := "page_seconds";
      Below  : Word := 0;
      Next   : Natural := 0;
   begin
      for Power in First_Bound .. Last_Bound loop
         declare
            Bound : constant Word := 2 ** Power - 1;
         begin
            while Histograms.Upper_Bound (Next) <= Bound loop
               Below := Below + Item.Times (Next);
               Next  := Next + 1;
            end loop;
            Append_Line (To, Metric & "_bucket", Name, Image (Below), Bound => Seconds (Bound));
         end;
      end loop;
      Append_Line (To, Metric & "_bucket", Name, Image (Item.Count), Bound => "+Inf");
      Append_Line (To, Metric & "_sum", Name, Seconds (Item.Total));
      Append_Line (To, Metric & "_count", Name, Image (Item.Count));
   end Append_Histogram;

   procedure Write (Self : in out Monitor; To : in out Text_Sink'Class) is

      procedure Append_Histogram (Item : in out Page; Name : String) is
      begin
         Append_Histogram (To, Name, Merged (Item));
      end Append_Histogram;

      procedure Append_Pages
        (Metric, Help : String; Value : not null access function (Item : Statistics) return String)
      is
         procedure Append (Item : in out Page; Name : String) is
         begin
            Append_Line (To, Metric, Name, Value (Merged (Item)));
         end Append;
      begin
         Append_Head (To, Metric, "counter", Help);
         Visit_Pages (Self, Append'Access);
      end Append_Pages;

      procedure Append_Queries
        (Metric, Help : String; Value : not null access function (Item : Statistics) return String)
      is
         procedure Append (Item : in out Page; Name : String) is
         begin
            for Number in Item.Queries'Range loop
               if Item.Queries (Number) /= null then
                  Append_Line
                    (To, Metric, Name, Value (Merged (Item.Queries (Number).all)),
                     Query => Name_Of (Self, Number));
               end if;
            end loop;
         end Append;
      begin
         Append_Head (To, Metric, "counter", Help);
         Visit_Pages (Self, Append'Access);
      end Append_Queries;

      function Count (Item : Statistics) return String is (Image (Item.Count));
      function Errors (Item : Statistics) return String is (Image (Item.Errors));
      function Client_Errors (Item : Statistics) return String is (Image (Item.Client_Errors));
      function Total (Item : Statistics) return String is (Seconds (Item.Total));
      function CPU (Item : Statistics) return String is (Seconds (Item.CPU));

   begin
      Append_Head (To, "page_seconds", "histogram", "Response times.");
      Visit_Pages (Self, Append_Histogram'Access);
      Append_Pages ("page_errors_total", "Responses with status 500 or above.", Errors'Access);
      Append_Pages
        ("page_client_errors_total", "Responses with status 400 to 499.", Client_Errors'Access);
      Append_Pages ("page_cpu_seconds_total", "Estimated CPU time.", CPU'Access);
      Append_Queries ("queries_total", "Executions of queries.", Count'Access);
      Append_Queries ("query_errors_total", "Failed executions of queries.", Errors'Access);
      Append_Queries ("query_seconds_total", "Total time of queries.", Total'Access);
   end Write;

end Appserver.Monitors.Prometheus;
