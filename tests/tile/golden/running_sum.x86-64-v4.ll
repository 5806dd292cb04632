; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
{
entry:
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".1", i64 -1
  %".7" = getelementptr ptr, ptr %".1", i64 0
  %".8" = load ptr, ptr %".7"
  %".9" = getelementptr ptr, ptr %".1", i64 1
  %".10" = load ptr, ptr %".9"
  %".11" = getelementptr i8, ptr %".3", i64 0
  %".12" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".13" = shufflevector <4 x float> %".12", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".14" = getelementptr inbounds float, ptr %".11", i64 0
  store <4 x float> %".13", ptr %".14", align 4
  %".16" = sext i32 0 to i64
  %".17" = sext i32 6 to i64
  br label %"loop"
loop:
  %"i" = phi  i64 [%".16", %"start"], [%".46", %"body"]
  %".19" = icmp slt i64 %"i", %".17"
  br i1 %".19", label %"body", label %"done"
body:
  %".21" = trunc i64 %"i" to i32
  %".22" = sext i32 %".21" to i64
  %".23" = mul i64 %".22", 4
  %".24" = sext i32 0 to i64
  %".25" = add i64 %".23", %".24"
  %".26" = getelementptr float, ptr %".8", i64 %".25"
  %".27" = sext i32 %".21" to i64
  %".28" = mul i64 %".27", 4
  %".29" = sext i32 0 to i64
  %".30" = add i64 %".28", %".29"
  %".31" = getelementptr float, ptr %".10", i64 %".30"
  %".32" = getelementptr inbounds float, ptr %".11", i64 0
  %".33" = load <4 x float>, ptr %".32", align 4
  %".34" = getelementptr inbounds float, ptr %".26", i64 0
  %".35" = load <4 x float>, ptr %".34", align 4
  %".36" = fadd <4 x float> %".33", %".35"
  %".37" = getelementptr inbounds float, ptr %".31", i64 0
  store <4 x float> %".36", ptr %".37", align 4
  %".39" = getelementptr inbounds float, ptr %".11", i64 0
  %".40" = load <4 x float>, ptr %".39", align 4
  %".41" = getelementptr inbounds float, ptr %".26", i64 0
  %".42" = load <4 x float>, ptr %".41", align 4
  %".43" = fadd <4 x float> %".40", %".42"
  %".44" = getelementptr inbounds float, ptr %".11", i64 0
  store <4 x float> %".43", ptr %".44", align 4
  %".46" = add i64 %"i", 1
  br label %"loop"
done:
  ret void
}
