--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Appserver.JSON.Writers;

package body Appserver.Monitors.JSON is

   package Writers renames Appserver.JSON.Writers;

   subtype Writer is Writers.Writer;

   procedure Put (Self : in out Writer; Name : String; Value : Word) is
   begin
      Self.Write_Name (Name);
      Self.Write (Writers.Integer_64 (Value));
   end Put;

   procedure Put_Seconds (Self : in out Writer; Name : String; Milliseconds : Word) is
   begin
      Self.Write_Name (Name);
      Self.Write (Long_Float (Milliseconds) / 1_000.0);
   end Put_Seconds;

   procedure Put_Name (Self : in out Writer; Name : String) is
   begin
      Self.Write_Name ("name");
      Self.Write (Name);
   end Put_Name;

   procedure Put_Times (Self : in out Writer; Times : Histograms.Histogram) is
   begin
      Self.Write_Name ("times");
      Self.Start_Array;
      for Item in Times'Range loop
         if Times (Item) > 0 then
            Self.Start_Array;
            Self.Write (Writers.Integer_64 (Histograms.Upper_Bound (Item)));
            Self.Write (Writers.Integer_64 (Times (Item)));
            Self.End_Array;
         end if;
      end loop;
      Self.End_Array;
   end Put_Times;

   procedure Put_Statistics (Self : in out Writer; Item : Statistics) is
   begin
      Put (Self, "count", Item.Count);
      Put (Self, "errors", Item.Errors);
      Put (Self, "total_ns", Item.Total);
      Put (Self, "max_ns", Item.Max);
      Put_Times (Self, Item.Times);
   end Put_Statistics;

   procedure Put_Hours (Self : in out Writer; Hours : Hour_List) is
   begin
      Self.Write_Name ("hours");
      Self.Start_Array;
      for Item of Hours when Item.Count > 0 loop
         Self.Start_Array;
         Self.Write (Writers.Integer_64 (3_600 * Item.Hour));
         Self.Write (Writers.Integer_64 (Item.Count));
         Self.Write (Writers.Integer_64 (Item.Errors));
         Self.Write (Writers.Integer_64 (Item.Total));
         Self.End_Array;
      end loop;
      Self.End_Array;
   end Put_Hours;

   procedure Put_Queries (Self : in out Writer; From : Monitor; Item : Page) is
   begin
      Self.Write_Name ("queries");
      Self.Start_Array;
      for Number in Item.Queries'Range loop
         if Item.Queries (Number) /= null then
            declare
               Query : constant Statistics := Merged (Item.Queries (Number).all);
            begin
               if Query.Count > 0 then
                  Self.Start_Object;
                  Put_Name (Self, Name_Of (From, Number));
                  Put_Statistics (Self, Query);
                  Self.End_Object;
               end if;
            end;
         end if;
      end loop;
      Self.End_Array;
   end Put_Queries;

   procedure Put_Example (Self : in out Writer; From : Monitor; Item : Example) is
   begin
      Self.Start_Object;
      Put_Seconds (Self, "at_unix_s", Item.Started_Ms);
      Put (Self, "ns", Item.Elapsed);
      if Item.CPU /= No_CPU then
         Put (Self, "cpu_ns", Item.CPU);
      end if;
      Put (Self, "status", Word (Item.Status));
      Self.Write_Name ("path");
      Self.Write (Item.Path (1 .. Item.Path_Length));
      Self.Write_Name ("queries");
      Self.Start_Array;
      for Part of Item.Parts (1 .. Item.Part_Count) loop
         Self.Start_Object;
         Put_Name (Self, Name_Of (From, Part.Number));
         Put (Self, "count", Part.Count);
         Put (Self, "ns", Part.Total);
         Self.End_Object;
      end loop;
      Self.End_Array;
      Self.End_Object;
   end Put_Example;

   procedure Write
     (Self        : in out Monitor;
      To          : not null access Text_Sinks.Text_Sink'Class;
      Application : String := "")
   is
      Into : Writer (To);

      procedure Put_Page (Item : in out Page; Name : String) is
         Sum : constant Statistics := Merged (Item);
      begin
         Into.Start_Object;
         Put_Name (Into, Name);
         Put_Statistics (Into, Sum);
         Put (Into, "client_errors", Sum.Client_Errors);
         Put (Into, "cpu_ns", Sum.CPU);
         Put_Hours (Into, Hours_Of (Item));
         Put_Queries (Into, Self, Item);
         Into.Write_Name ("slowest");
         Into.Start_Array;
         for Each of Examples_Of (Item) loop
            Put_Example (Into, Self, Each);
         end loop;
         Into.End_Array;
         Into.End_Object;
      end Put_Page;

   begin
      Into.Start_Object;
      Put (Into, "monitor", 1);
      if Application /= "" then
         Into.Write_Name ("application");
         Into.Write (Application);
      end if;
      Put_Seconds (Into, "started_unix_s", Self.Started_Ms);
      Put_Seconds (Into, "now_unix_s", Unix_Milliseconds);
      Into.Write_Name ("bucket_width");
      Into.Write (1.0 / Long_Float (Histograms.Parts));
      Into.Write_Name ("pages");
      Into.Start_Array;
      Visit_Pages (Self, Put_Page'Access);
      Into.End_Array;
      Into.End_Object;
   end Write;

end Appserver.Monitors.JSON;
