--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The tree of a service's routes: growing it, and finding the node that a path leads to.

pragma Ada_2022;

private package Appserver.HTTP.REST.Trees is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   procedure Add (Self : in out Service; Route : Path_Route);
   --  Route_Error if its pattern is malformed, or there is one for the same

   type Capture is record
      Name  : Link;
      --  To the node that has it
      First : Positive;
      Last  : Natural;
      --  Of the value, in the request's bytes
   end record;
   --  Without initial values, as those of an answer

   type Capture_List is array (1 .. Most_Captures) of Capture;

   type Match is record
      Node     : Link := 0;
      Count    : Natural range 0 .. Most_Captures := 0;
      Captured : Capture_List;
   end record;

   procedure Find (Self : Service; Request : HTTP.Request; Found : in out Match)
     with Pre => Found.Node = 0 and then Found.Count = 0;
   --  Node stays 0 if no route fits the path

end Appserver.HTTP.REST.Trees;
