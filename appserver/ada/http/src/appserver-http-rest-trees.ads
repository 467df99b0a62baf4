--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The tree of a service's routes. Adds routes, and finds the node for a path.

pragma Ada_2022;

private package Appserver.HTTP.REST.Trees is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   procedure Add (Self : in out Service; Route : Path_Route);
   --  Adds a route. Raises Route_Error if the pattern is malformed, or if a route with the same
   --  pattern exists.

   type Match is record
      Node     : Link := null;
      Count    : Natural range 0 .. Max_Captures := 0;
      Captured : Captures;
   end record;

   procedure Find (Self : Service; Request : HTTP.Request; Found : in out Match)
     with Pre => Found.Node = null and then Found.Count = 0;
   --  Finds the route for a request's path. Found.Node stays null if no route matches.

end Appserver.HTTP.REST.Trees;
