--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Characters.Handling;
with Ada.Strings.Fixed;

package body Appserver.Retry.Prometheus is

   use Ada.Strings.Unbounded;

   LF : constant Character := Character'Val (10);

   function Escaped (Label : Unbounded_String) return Unbounded_String is
   begin
      return Result : Unbounded_String do
         for C of To_String (Label) loop
            case C is
               when '"' | '\' => Append (Result, "\" & C);
               when LF        => Append (Result, "\n");
               when others    => Append (Result, C);
            end case;
         end loop;
      end return;
   end Escaped;

   function Image (Value : SQL.Integer_64) return String is
     (Ada.Strings.Fixed.Trim (Value'Image, Ada.Strings.Left));

   function Seconds (Time : Duration) return String is
     (Ada.Strings.Fixed.Trim (Time'Image, Ada.Strings.Left));

   procedure Append_Head (To : in out Unbounded_String; Metric, Help : String) is
   begin
      Append (To, "# HELP appserver_retry_" & Metric & " " & Help & LF);
      Append (To, "# TYPE appserver_retry_" & Metric & " counter" & LF);
   end Append_Head;

   procedure Append
     (To     : in out Unbounded_String;
      Named  : Named_Statistics;
      Metric : String;
      Value  : String;
      Labels : String := "") is
   begin
      Append
        (To,
         "appserver_retry_" & Metric & "{policy=""" & To_String (Escaped (Named.Name)) & """"
         & Labels & "} " & Value & LF);
   end Append;

   procedure Append_Faults (To : in out Unbounded_String; List : Statistics_List) is
      Metric : constant String := "faults_total";
   begin
      Append_Head (To, Metric, "Failed attempts.");
      for Named of List loop
         for Kind in Fault loop
            Append
              (To, Named, Metric, Image (Named.Statistics.Faults (Kind)),
               Labels => ",fault=""" & Ada.Characters.Handling.To_Lower (Kind'Image) & """");
         end loop;
      end loop;
   end Append_Faults;

   generic
      Metric : String;
      Help   : String;
      with function Value (Statistics : Retry_Statistics) return String;
   procedure Append_Metric (To : in out Unbounded_String; List : Statistics_List);

   procedure Append_Metric (To : in out Unbounded_String; List : Statistics_List) is
   begin
      Append_Head (To, Metric, Help);
      for Named of List loop
         Append (To, Named, Metric, Value (Named.Statistics));
      end loop;
   end Append_Metric;

   function Calls (Statistics : Retry_Statistics) return String is (Image (Statistics.Calls));
   function Retries (Statistics : Retry_Statistics) return String is (Image (Statistics.Retries));
   function Given_Up (Statistics : Retry_Statistics) return String is (Image (Statistics.Given_Up));
   function Lost (Statistics : Retry_Statistics) return String is
     (Seconds (Statistics.Time_In_Failed_Attempts));

   procedure Append_Calls is new Append_Metric
     ("calls_total", "Calls.", Calls);
   procedure Append_Retries is new Append_Metric
     ("retries_total", "Retries.", Retries);
   procedure Append_Given_Up is new Append_Metric
     ("given_up_total", "Calls that failed with a transient error.", Given_Up);
   procedure Append_Lost is new Append_Metric
     ("lost_seconds_total", "Time spent in failed attempts and delays.", Lost);

   function Text (List : Statistics_List) return SQL.UTF_8_String is
      Result : Unbounded_String;
   begin
      Append_Calls (Result, List);
      Append_Faults (Result, List);
      Append_Retries (Result, List);
      Append_Given_Up (Result, List);
      Append_Lost (Result, List);
      return To_String (Result);
   end Text;

end Appserver.Retry.Prometheus;
