--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Calendar.Conversions;

package body Appserver.HTTP.Conditions is

   use type Dates.Unix_Time;

   function Now return Dates.Common_Time is
     (Dates.Common_Time (Ada.Calendar.Conversions.To_Unix_Time (Ada.Calendar.Clock)));

   --  The function Lists checks whether Tag is in a list of entity tags, or the list is "*". A weak
   --  comparison treats W/"x" like "x"; a strong comparison ignores weak tags (section 8.8.3.2). A
   --  list is read up to the first error.

   type Comparison is (Weak, Strong);

   function Lists (Field, Tag : String; By : Comparison) return Boolean is
      Next    : Natural := Field'First;
      Last    : Natural;
      Is_Weak : Boolean;
   begin
      if Field = "*" then
         return True;
      end if;
      while Next <= Field'Last loop
         if Field (Next) in ' ' | ASCII.HT | ',' then
            Next := Next + 1;
         else
            Is_Weak := Field'Last - Next >= 2 and then Field (Next .. Next + 1) = "W/";
            if Is_Weak then
               Next := Next + 2;
            end if;
            exit when Field (Next) /= '"';
            Last := Next + 1;
            while Last <= Field'Last and then Field (Last) /= '"' loop
               Last := Last + 1;
            end loop;
            exit when Last > Field'Last;
            if Field (Next .. Last) = Tag and then (By = Weak or else not Is_Weak) then
               return True;
            end if;
            Next := Last + 1;
         end if;
      end loop;
      return False;
   end Lists;

   function Verdict_On
     (Request  : HTTP.Request;
      Tag      : String;
      Modified : Dates.Common_Time) return Verdict
   is
      --  Returns No_Time if the value is not a date, as if the field were missing

      function Time_In (Name : String) return Dates.Unix_Time is
        (if Request.Has_Field (Name) then Dates.Value (Request.Field (Name), Now)
         else Dates.No_Time);

      Is_Reading : constant Boolean := Request.Method = Get;
      Since      : Dates.Unix_Time;
   begin
      if Request.Has_Field ("If-Match") then
         if not Lists (Request.Field ("If-Match"), Tag, Strong) then
            return Has_Failed;
         end if;
      else
         Since := Time_In ("If-Unmodified-Since");
         if Since /= Dates.No_Time and then Modified > Since then
            return Has_Failed;
         end if;
      end if;
      if Request.Has_Field ("If-None-Match") then
         if Lists (Request.Field ("If-None-Match"), Tag, Weak) then
            return (if Is_Reading then Is_Not_Modified else Has_Failed);
         end if;
      elsif Is_Reading then
         Since := Time_In ("If-Modified-Since");
         if Since /= Dates.No_Time and then Modified <= Since then
            return Is_Not_Modified;
         end if;
      end if;
      return Go_On;
   end Verdict_On;

   function Range_Holds (Request : HTTP.Request; Tag : String) return Boolean is
     (not Request.Has_Field ("If-Range") or else Request.Field ("If-Range") = Tag);

end Appserver.HTTP.Conditions;
